#pragma once

// Internal to pkg/http. One connection of a server: reads requests one after another, has each
// answered by the handler, and notices while an answer streams that the client has gone.
//
// Belongs to its server, which runs Run() in a TaskGroup and outlives it.

#include <memory>
#include <optional>
#include <string>

#include "pkg/base/task_group.h"
#include "pkg/http/connection.h"
#include "pkg/http/parser.h"
#include "pkg/http/server.h"

namespace http {

class ServerConnection {
 public:
  // `tls` is null for plain HTTP. `options` and `handler` outlive the connection.
  ServerConnection(const ServerOptions& options, const Handler& handler,
                   std::shared_ptr<Socket> socket, std::shared_ptr<const TlsContext> tls);

  // Returns when the connection is closed.
  base::Task<void> Run();
  // No request after the next answer.
  void Drain() { draining_ = true; }
  // Closes as soon as the request in hand is answered: now, if there is none. Streams end now.
  void Stop();
  // Closes now; a handler is cancelled.
  void StopNow();

 private:
  enum class Phase { kHandshake, kIdle, kReading, kHandling, kStreaming };
  class Writer;

  base::Task<bool> Handshake();
  // nullopt: the client is done with this connection.
  base::Task<base::Result<std::optional<Request>>> ReadRequest();
  base::Task<base::Result<void>> ReadHeader();
  base::Task<base::Result<void>> ReadBody();
  base::Task<void> Refuse(base::Error why);
  // True when another request may follow.
  base::Task<bool> Answer(Request request);
  base::Task<void> RunHandler(Request request, Writer& writer);
  base::Task<void> WatchForGoodbye();
  // Whether the answer that begins now is the connection's last.
  [[nodiscard]] bool IsLast() const;

  const ServerOptions& options_;
  const Handler& handler_;
  Connection connection_;
  std::shared_ptr<const TlsContext> tls_;
  Peer peer_;
  Phase phase_ = Phase::kHandshake;
  bool first_ = true;         // no request was read yet
  bool stopping_ = false;     // no request after this one
  bool draining_ = false;     // none after the next answer
  std::size_t requests_ = 0;  // answered, or being answered
  base::TimePoint old_at_ = base::TimePoint::max();
  std::unique_ptr<RequestParser> parser_;  // of the request in hand
  base::TaskGroup handler_task_;
  base::TaskGroup goodbye_task_;  // runs while a handler streams
};

}  // namespace http
