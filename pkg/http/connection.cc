#include "pkg/http/connection.h"

#include <glog/logging.h>

#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace http {
namespace {

constexpr std::size_t kScratchBytes = std::size_t{64} << 10;
constexpr int kBurst = 16;  // operations in a row before a yield to the event loop
constexpr std::size_t kLargeRead = std::size_t{16} << 10;
constexpr std::size_t kLingerBytes = std::size_t{16} << 20;

std::span<char> Scratch() {
  thread_local const auto scratch = std::make_unique<std::array<char, kScratchBytes>>();
  return *scratch;
}

}  // namespace

Connection::Connection(std::shared_ptr<Socket> socket)
    : socket_(std::move(socket)), stream_(socket_) {}

Connection::~Connection() { Close(); }

// An operation that has to wait checks deadline and cancellation itself.
base::Task<base::Result<void>> Connection::LetOthersRun(base::TimePoint deadline) {
  if (++without_waiting_ < kBurst) co_return base::Result<void>();
  without_waiting_ = 1;
  co_await boost::asio::post(socket_->executor(), boost::asio::use_awaitable);
  const auto state = co_await boost::asio::this_coro::cancellation_state;
  co_return socket_->MayWait(state.cancelled() != boost::asio::cancellation_type::none, deadline);
}

base::Task<base::Result<void>> Connection::StartTls(std::shared_ptr<TlsStream> tls,
                                                    base::TimePoint deadline, Turn turn) {
  stream_ = std::move(tls);
  for (;;) {
    Attempt attempt = stream_->TryHandshake();
    if (attempt.kind == Attempt::Kind::kDone) co_return base::Result<void>();
    if (attempt.kind == Attempt::Kind::kFailed) co_return std::move(attempt.error);
    auto waited = co_await socket_->Wait(Purpose::kReceive, attempt.kind, deadline);
    if (waited && turn) waited = co_await turn();
    if (!waited) co_return waited.error().Wrap("TLS handshake");
  }
}

base::Task<base::Result<std::string_view>> Connection::Receive(base::TimePoint deadline) {
  const auto turn = co_await LetOthersRun(deadline);
  if (!turn) co_return turn.error();
  for (;;) {
    if (closed_) {
      co_return base::Error{.code = base::ErrorCode::kUnavailable,
                            .message = peer() + ": connection closed"};
    }
    if (std::exchange(receive_ends_, false)) {
      co_return base::Error{.code = base::ErrorCode::kTimeout, .message = peer() + ": ended early"};
    }
    const std::span<char> scratch = Scratch();
    // The end or the failure that Fill() met after the last bytes.
    Attempt attempt = met_ ? *met_ : stream_->TryRead(scratch);
    if (attempt.kind == Attempt::Kind::kDone) {
      const std::size_t bytes = Fill(scratch, attempt.bytes);
      // After a large read, yield to the event loop before reading more.
      if (bytes >= kLargeRead) without_waiting_ = kBurst;
      co_return std::string_view(scratch.data(), bytes);
    }
    if (attempt.kind == Attempt::Kind::kEnd) co_return std::string_view();
    if (attempt.kind == Attempt::Kind::kFailed) co_return std::move(attempt.error);
    // The wait below lets others run.
    without_waiting_ = 0;
    auto waited = co_await socket_->Wait(Purpose::kReceive, attempt.kind, deadline);
    if (!waited) co_return waited.error();
  }
}

// Appends to the first `bytes`, record by record: after a pause, many TLS records may be waiting.
// Each record is an operation: a record may hold a single byte.
std::size_t Connection::Fill(std::span<char> scratch, std::size_t bytes) {
  while (bytes < scratch.size() && stream_->HasPending() && without_waiting_ < kBurst) {
    ++without_waiting_;
    Attempt more = stream_->TryRead(scratch.subspan(bytes));
    if (more.kind == Attempt::Kind::kDone) {
      bytes += more.bytes;
      CHECK_LE(bytes, scratch.size()) << "a stream wrote past the end of the buffer";
      continue;
    }
    if (more.kind == Attempt::Kind::kEnd || more.kind == Attempt::Kind::kFailed) {
      met_ = std::move(more);
    }
    break;
  }
  return bytes;
}

void Connection::EndReceive() {
  receive_ends_ = true;
  socket_->Wake();
}

base::Task<base::Result<void>> Connection::Send(std::string bytes, base::TimePoint deadline) {
  std::string_view rest = bytes;
  while (!rest.empty()) {
    if (closed_) {
      co_return base::Error{.code = base::ErrorCode::kUnavailable,
                            .message = peer() + ": connection closed"};
    }
    Attempt attempt = stream_->TryWrite(rest);
    if (attempt.kind == Attempt::Kind::kFailed) co_return std::move(attempt.error);
    if (attempt.kind == Attempt::Kind::kDone) {
      CHECK_LE(attempt.bytes, rest.size()) << "a stream sent more than it was given";
      rest.remove_prefix(attempt.bytes);
      if (rest.empty()) break;
      const auto turn = co_await LetOthersRun(deadline);
      if (!turn) co_return turn.error();
      continue;
    }
    without_waiting_ = 0;
    auto waited = co_await socket_->Wait(Purpose::kSend, attempt.kind, deadline);
    if (!waited) co_return waited.error();
  }
  co_return base::Result<void>();
}

bool Connection::StillIdle() {
  // An idle connection with bytes or an end is out of step: do not use it again.
  if (closed_ || met_ || !leftover_.empty()) return false;
  std::array<char, 1> byte{};
  return stream_->TryRead(byte).kind == Attempt::Kind::kWantRead;
}

base::Task<void> Connection::Linger(base::TimePoint deadline) {
  if (closed_) co_return;
  stream_->TryGoodbye();
  socket_->ShutdownSend();
  for (std::size_t drained = 0; drained < kLingerBytes;) {
    const auto received = co_await Receive(deadline);
    if (!received || received->empty()) break;
    drained += received->size();
  }
  Close();
}

void Connection::Close() {
  if (closed_) return;
  closed_ = true;
  stream_->TryGoodbye();
  socket_->Close();
}

void Connection::Reset() {
  closed_ = true;
  socket_->Reset();
}

}  // namespace http
