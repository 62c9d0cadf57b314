#include "pkg/http/socket.h"

#include <glog/logging.h>

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/this_coro.hpp>

#include "pkg/base/asio.h"

namespace http {
namespace {

namespace asio = boost::asio;

base::Error Unavailable(const std::string& peer, std::string_view why) {
  std::string message = peer;
  message.append(": ").append(why);
  return {.code = base::ErrorCode::kUnavailable, .message = std::move(message)};
}

bool WouldBlock(const boost::system::error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again ||
         error == asio::error::interrupted;
}

}  // namespace

Socket::Socket(Tcp::socket socket, std::string peer)
    : socket_(std::move(socket)), peer_(std::move(peer)), timer_(socket_.get_executor()) {
  if (socket_.is_open()) SetOptions();
}

void Socket::SetOptions() {
  boost::system::error_code ignored;  // a failed option only costs the detection of dead peers
  socket_.non_blocking(true, ignored);
  const int descriptor = socket_.native_handle();
  const auto set = [descriptor](int level, int name, int value) {
    ::setsockopt(descriptor, level, name, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);
}

base::Task<base::Result<void>> Socket::Connect(Tcp::endpoint endpoint, base::TimePoint deadline) {
  const auto self = shared_from_this();
  boost::system::error_code error;
  socket_.open(endpoint.protocol(), error);
  if (error) co_return Unavailable(peer_, "socket: " + error.message());
  SetOptions();
  Arm(Purpose::kSend, deadline);
  std::tie(error) = co_await socket_.async_connect(endpoint, base::kTuple);
  Deadline(Purpose::kSend) = base::TimePoint::max();
  const auto state = co_await asio::this_coro::cancellation_state;
  if (state.cancelled() != asio::cancellation_type::none) {
    co_return base::Error{.code = base::ErrorCode::kCancelled, .message = "connect to " + peer_};
  }
  if (TimedOut(Purpose::kSend)) {
    co_return base::Error{.code = base::ErrorCode::kTimeout,
                          .message = "connect to " + peer_ + ": timed out"};
  }
  if (error) co_return Unavailable("connect to " + peer_, error.message());
  co_return base::Result<void>();
}

base::Task<base::Result<void>> Socket::Wait(Purpose purpose, Attempt::Kind want,
                                            base::TimePoint deadline) {
  const bool writes = want == Attempt::Kind::kWantWrite;
  return WaitFor(purpose, writes ? Tcp::socket::wait_write : Tcp::socket::wait_read, deadline);
}

base::Task<base::Result<void>> Socket::WaitForWake(base::TimePoint deadline) {
  return WaitFor(Purpose::kReceive, Tcp::socket::wait_error, deadline);
}

base::Task<base::Result<void>> Socket::WaitFor(Purpose purpose, Tcp::socket::wait_type event,
                                               base::TimePoint deadline) {
  const auto self = shared_from_this();
  const auto before = co_await asio::this_coro::cancellation_state;
  auto may = MayWait(before.cancelled() != asio::cancellation_type::none, deadline);
  if (!may) co_return may.error();
  if (!socket_.is_open()) co_return Unavailable(peer_, "connection closed");
  CHECK(Deadline(purpose) == base::TimePoint::max())
      << "two coroutines wait for one direction of the connection with " << peer_;
  Arm(purpose, deadline);
  const auto [error] = co_await socket_.async_wait(event, base::kTuple);
  Deadline(purpose) = base::TimePoint::max();
  const auto after = co_await asio::this_coro::cancellation_state;
  if (after.cancelled() != asio::cancellation_type::none) {
    co_return base::Error{.code = base::ErrorCode::kCancelled, .message = peer_ + ": cancelled"};
  }
  if (TimedOut(purpose)) {
    co_return base::Error{.code = base::ErrorCode::kTimeout, .message = peer_ + ": timed out"};
  }
  if (!socket_.is_open()) co_return Unavailable(peer_, "connection closed");
  // Aborted without an error of its own: the other direction's deadline passed, or Wake().
  if (error && error != asio::error::operation_aborted) {
    co_return Unavailable(peer_, error.message());
  }
  co_return base::Result<void>();
}

// The timer alone does not end a series of waits for bytes that keep coming: each of them may be
// over before the timer's handler runs.
base::Result<void> Socket::MayWait(bool cancelled, base::TimePoint deadline) const {
  if (cancelled) {
    return base::Error{.code = base::ErrorCode::kCancelled, .message = peer_ + ": cancelled"};
  }
  if (deadline != base::TimePoint::max() && base::RealClock().Now() >= deadline) {
    return base::Error{.code = base::ErrorCode::kTimeout, .message = peer_ + ": timed out"};
  }
  return {};
}

Attempt Socket::TryRead(std::span<char> into) {
  boost::system::error_code error;
  const std::size_t bytes = socket_.read_some(asio::buffer(into.data(), into.size()), error);
  if (!error) return Attempt::Done(bytes);
  if (WouldBlock(error)) return Attempt::Of(Attempt::Kind::kWantRead);
  if (error == asio::error::eof) return Attempt::Of(Attempt::Kind::kEnd);
  return Attempt::Failed(Unavailable(peer_, error.message()));
}

Attempt Socket::TryWrite(std::string_view bytes) {
  boost::system::error_code error;
  const std::size_t written = socket_.write_some(asio::buffer(bytes.data(), bytes.size()), error);
  bytes_written_ += written;
  if (!error) return Attempt::Done(written);
  if (WouldBlock(error)) return Attempt::Of(Attempt::Kind::kWantWrite);
  return Attempt::Failed(Unavailable(peer_, error.message()));
}

bool Socket::HasArrivals() const {
  boost::system::error_code gone;
  return socket_.available(gone) > 0 && !gone;
}

std::uint16_t Socket::peer_port() const {
  boost::system::error_code gone;
  const Tcp::endpoint remote = socket_.remote_endpoint(gone);
  return gone ? std::uint16_t{0} : remote.port();
}

void Socket::ShutdownSend() {
  boost::system::error_code ignored;
  socket_.shutdown(Tcp::socket::shutdown_send, ignored);
}

void Socket::Wake() {
  boost::system::error_code ignored;
  socket_.cancel(ignored);
}

void Socket::Close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
  timer_.cancel();
  rings_at_ = base::TimePoint::max();
}

void Socket::Reset() {
  boost::system::error_code ignored;
  // With a linger time of zero, close() sends RST.
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  Close();
}

void Socket::Arm(Purpose purpose, base::TimePoint deadline) {
  TimedOut(purpose) = false;
  Deadline(purpose) = deadline;
  if (deadline >= rings_at_) return;
  rings_at_ = deadline;
  timer_.expires_at(deadline);
  // Weak, so that a running timer does not keep the socket alive.
  timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    if (error) return;
    if (const auto self = weak.lock()) self->Ring();
  });
}

void Socket::Ring() {
  const base::TimePoint now = base::RealClock().Now();
  if (now < rings_at_) return;  // the deadline was moved while this handler was queued
  rings_at_ = base::TimePoint::max();
  bool late = false;
  for (std::size_t i = 0; i < deadlines_.size(); ++i) {
    if (deadlines_[i] > now) continue;
    deadlines_[i] = base::TimePoint::max();
    timed_out_[i] = late = true;
  }
  if (late) {
    boost::system::error_code ignored;
    socket_.cancel(ignored);
  }
  for (const Purpose purpose : {Purpose::kReceive, Purpose::kSend}) {
    const base::TimePoint deadline = Deadline(purpose);
    if (deadline != base::TimePoint::max()) Arm(purpose, deadline);
  }
}

}  // namespace http
