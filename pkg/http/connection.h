#pragma once

// Internal to pkg/http. A connection as coroutines use it: bytes in, bytes out, each with a
// deadline, plain or through any number of TLS layers. One may receive while another sends; two may
// not do the same. Errors leave the connection to be closed by its owner; destroying it closes it.

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

  // Goes on inside TLS, once the handshake is done. `who` of an error is the peer of the stream.
  base::Task<base::Result<void>> StartTls(std::shared_ptr<TlsStream> tls, base::TimePoint deadline);
  [[nodiscard]] const std::shared_ptr<Stream>& stream() const { return stream_; }

  // What has arrived, at least one byte; empty when the peer has ended its side. The view is valid
  // until the caller's next co_await: the buffer belongs to the thread, so that waiting costs none.
  base::Task<base::Result<std::string_view>> Receive(base::TimePoint deadline);
  // The wait of Receive(), the one under way or the next, ends with kTimeout.
  void EndReceive();
  // All of `bytes`.
  base::Task<base::Result<void>> Send(std::string bytes, base::TimePoint deadline);

  // Bytes received but not consumed: the start of the next message.
  std::string& leftover() { return leftover_; }
  [[nodiscard]] const std::string& leftover() const { return leftover_; }
  // False when the peer has closed an idle connection, or speaks unasked.
  [[nodiscard]] bool StillIdle();

  // Ends the peer's wait for more, reads what it still sends for a moment, then closes: the peer
  // gets to read our last answer before its own sending fails.
  base::Task<void> Linger(base::TimePoint deadline);
  void Close();  // waiting coroutines wake with kUnavailable
  void Reset();

  [[nodiscard]] Socket& socket() { return *socket_; }
  [[nodiscard]] const std::string& peer() const { return socket_->peer(); }

 private:
  base::Task<void> LetOthersRun();
  std::size_t Fill(std::span<char> scratch, std::size_t bytes);

  std::shared_ptr<Socket> socket_;
  std::shared_ptr<Stream> stream_;
  std::optional<Attempt> met_;  // an end or a failure behind what was received
  std::string leftover_;
  int without_waiting_ = 0;  // operations since the loop was last given to others
  bool receive_ends_ = false;
  bool closed_ = false;
};

}  // namespace http
