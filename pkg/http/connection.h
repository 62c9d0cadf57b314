#pragma once

// Internal to pkg/http. A connection for coroutines: receives and sends bytes with a deadline,
// plain or through any number of TLS layers. One coroutine may receive while another sends; two
// must not do the same. After an error the owner must close the connection; destroying it closes
// it.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "pkg/base/asio.h"
#include "pkg/base/clock.h"
#include "pkg/http/socket.h"
#include "pkg/http/tls.h"

namespace http {

class Connection {
 public:
  explicit Connection(std::shared_ptr<Socket> socket);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Before each further step of a handshake, for which bytes have arrived; its error ends it.
  using Turn = std::function<base::Task<base::Result<void>>()>;
  // Does the handshake and continues inside TLS. Errors name the peer of the stream.
  base::Task<base::Result<void>> StartTls(std::shared_ptr<TlsStream> tls, base::TimePoint deadline,
                                          Turn turn = nullptr);
  [[nodiscard]] const std::shared_ptr<Stream>& stream() const { return stream_; }

  // Returns what has arrived, at least one byte; empty if the peer has ended its side. The view is
  // valid until the caller's next co_await: the buffer is shared by all connections of the thread,
  // so that waiting connections need none. Bytes that keep coming extend neither the deadline nor
  // the life of a cancelled coroutine.
  base::Task<base::Result<std::string_view>> Receive(base::TimePoint deadline);
  // Ends the current or the next wait of Receive() with kTimeout.
  void EndReceive();
  // Sends all of `bytes`.
  base::Task<base::Result<void>> Send(std::string bytes, base::TimePoint deadline);

  // Counts an operation of at most half a millisecond, and yields to the event loop when there were
  // enough since the last wait. Errors, only then: kTimeout, kCancelled.
  base::Task<base::Result<void>> LetOthersRun(base::TimePoint deadline);

  // Bytes received but not consumed: the start of the next message.
  std::string& leftover() { return leftover_; }
  [[nodiscard]] const std::string& leftover() const { return leftover_; }
  // False if the peer has closed an idle connection, or sent bytes without a request.
  [[nodiscard]] bool StillIdle();

  // Ends our side, reads what the peer still sends for a moment, then closes. So the peer can read
  // our last answer before its own sending fails.
  base::Task<void> Linger(base::TimePoint deadline);
  void Close();  // waiting coroutines wake with kUnavailable
  void Reset();

  [[nodiscard]] Socket& socket() { return *socket_; }
  [[nodiscard]] const Socket& socket() const { return *socket_; }
  [[nodiscard]] const std::string& peer() const { return socket_->peer(); }

 private:
  std::size_t Fill(std::span<char> scratch, std::size_t bytes);

  std::shared_ptr<Socket> socket_;
  std::shared_ptr<Stream> stream_;
  std::optional<Attempt> met_;  // an end or a failure after the received bytes
  std::string leftover_;
  int without_waiting_ = 0;  // operations of the stream since the last yield to the event loop
  bool receive_ends_ = false;
  bool closed_ = false;
};

}  // namespace http
