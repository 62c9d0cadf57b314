#pragma once

// Internal to pkg/http. One connection of a server: reads requests one after another, passes each
// to the handler, and notices while an answer streams that the client has disconnected. As a guest
// of the server's crowd it reports what it holds, and closes or releases it when it must give way.
//
// Belongs to its server, which runs Run() in a TaskGroup and must outlive it.

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "pkg/base/task_group.h"
#include "pkg/http/connection.h"
#include "pkg/http/crowd.h"
#include "pkg/http/handshake_queue.h"
#include "pkg/http/idle_limit.h"
#include "pkg/http/parser.h"
#include "pkg/http/server.h"

namespace http {

Response PlainText(int status, std::string_view text);

// What all connections of a server share.
struct ServerShared {
  const ServerOptions& options;
  const Handler& handler;
  Crowd& crowd;
  HandshakeQueue& handshakes;
  IdleLimit& idle_limit;
  ServerStats& turned_away;
};

class ServerConnection final : private Crowd::Guest {
 public:
  // `address` is the peer's without its port; `tls` is null for plain HTTP. `shared` must outlive
  // the connection.
  ServerConnection(const ServerShared& shared, const std::string& address,
                   std::shared_ptr<Socket> socket, std::shared_ptr<const TlsContext> tls);

  // Returns when the connection is closed.
  base::Task<void> Run();
  // While draining, reads no request after the next answer.
  void Drain(bool drain) { draining_ = drain; }
  // Closes once the current request is answered, or now if there is none. Streams end now.
  void Stop();
  // Closes now; a running handler is cancelled.
  void StopNow();

 private:
  enum class Phase { kHandshake, kIdle, kReading, kHandling, kStreaming };
  class Writer;

  static constexpr std::chrono::milliseconds kLinger{2'000};
  static base::TimePoint In(std::chrono::milliseconds timeout) {
    return base::RealClock().Now() + timeout;
  }

  void GiveWay(Crowd::Scarce what) override;
  [[nodiscard]] bool IsAwaited() const override;
  base::Task<bool> Handshake();
  // nullopt: the client will send no more requests.
  base::Task<base::Result<std::optional<Request>>> ReadRequest();
  base::Task<base::Result<void>> ReadHeader();
  base::Task<base::Result<void>> ReadBody();
  base::Task<base::Result<void>> FeedParser(base::TimePoint deadline);
  [[nodiscard]] std::size_t Takes() const;
  base::Error NoMemory();
  void Forget();
  base::Task<void> Refuse(base::Error why);
  // True if another request may follow.
  base::Task<bool> Answer(Request request);
  base::Task<void> RunHandler(Request request, Writer& writer);
  base::Task<void> WatchForGoodbye();
  // True if the answer that begins now is the connection's last.
  [[nodiscard]] bool IsLast() const;

  const ServerOptions& options_;
  const Handler& handler_;
  HandshakeQueue& handshakes_;
  IdleLimit::Connection idle_;
  ServerStats& turned_away_;
  Connection connection_;
  std::shared_ptr<const TlsContext> tls_;
  std::shared_ptr<TlsStream> secured_;  // null for plain HTTP, and before the handshake
  Peer peer_;
  Phase phase_ = Phase::kHandshake;
  bool awaits_turn_ = false;      // has sent its part of the handshake
  bool first_ = true;             // no request was read yet
  bool stopping_ = false;         // read no request after this one
  bool draining_ = false;         // read none after the next answer
  bool gave_way_ = false;         // the bytes of the request that is being read were released
  std::size_t requests_ = 0;      // answered, including the current one
  std::size_t header_bytes_ = 0;  // of the current request
  base::TimePoint old_at_ = base::TimePoint::max();
  std::unique_ptr<RequestParser> parser_;  // of the current request
  base::TaskGroup handler_task_;
  base::TaskGroup goodbye_task_;  // runs while a handler streams
};

}  // namespace http
