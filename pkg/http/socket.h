#pragma once

// Internal to pkg/http. A TCP socket with deadlines: the lowest Stream, and the place where
// coroutines wait. A passed deadline ends the wait, not the socket: a server can still answer 408.
//
// One timer serves both directions and is only moved to an earlier time. So a deadline that is
// renewed with every event of a watch costs nothing.

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "pkg/base/asio.h"
#include "pkg/base/clock.h"
#include "pkg/http/stream.h"

namespace http {

using Tcp = boost::asio::ip::tcp;

// Which side waits. A TLS reader may have to wait for writability, so this is not the awaited
// event.
enum class Purpose { kReceive, kSend };

class Socket final : public Stream, public std::enable_shared_from_this<Socket> {
 public:
  // `peer` is "host:port", for messages.
  Socket(Tcp::socket socket, std::string peer);

  // Errors: kTimeout, kUnavailable ("connect to host:port: Connection refused"), kCancelled.
  base::Task<base::Result<void>> Connect(Tcp::endpoint endpoint, base::TimePoint deadline);
  // Returns when the stream may be tried again, possibly early. Errors: kTimeout, also if the
  // deadline has passed already; kCancelled; kUnavailable after Close().
  base::Task<base::Result<void>> Wait(Purpose purpose, Attempt::Kind want,
                                      base::TimePoint deadline);

  // Returns after Wake(), or when the peer has disconnected. Errors: those of Wait().
  base::Task<base::Result<void>> WaitForWake(base::TimePoint deadline);
  // What Wait() checks first, for those who need not wait. Errors: kTimeout, kCancelled.
  [[nodiscard]] base::Result<void> MayWait(bool cancelled, base::TimePoint deadline) const;

  Attempt TryRead(std::span<char> into) override;
  Attempt TryWrite(std::string_view bytes) override;
  Attempt TryHandshake() override { return Attempt::Done(0); }
  void TryGoodbye() override {}

  // Sets NODELAY, and a keep-alive that detects a dead peer within a minute.
  void SetOptions();
  void ShutdownSend();
  void Wake();  // ends every current Wait() without an error
  void Close();
  void Reset();  // closes with RST instead of FIN

  [[nodiscard]] const std::string& peer() const { return peer_; }
  // True if unread bytes have arrived.
  [[nodiscard]] bool HasArrivals() const;
  [[nodiscard]] std::uint16_t peer_port() const;  // 0 if the peer has disconnected
  [[nodiscard]] std::uint64_t bytes_written() const { return bytes_written_; }
  [[nodiscard]] base::asio::any_io_executor executor() { return socket_.get_executor(); }

 private:
  base::Task<base::Result<void>> WaitFor(Purpose purpose, Tcp::socket::wait_type event,
                                         base::TimePoint deadline);
  void Arm(Purpose purpose, base::TimePoint deadline);
  void Ring();
  base::TimePoint& Deadline(Purpose purpose) {
    return deadlines_[static_cast<std::size_t>(purpose)];
  }
  bool& TimedOut(Purpose purpose) { return timed_out_[static_cast<std::size_t>(purpose)]; }

  Tcp::socket socket_;
  std::string peer_;
  boost::asio::steady_timer timer_;
  base::TimePoint rings_at_ = base::TimePoint::max();  // max: the timer is not running
  std::array<base::TimePoint, 2> deadlines_{base::TimePoint::max(), base::TimePoint::max()};
  std::array<bool, 2> timed_out_{};
  std::uint64_t bytes_written_ = 0;
};

}  // namespace http
