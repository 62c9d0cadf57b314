// How a server's connection reads a request, and how it answers one that it refuses.

#include <glog/logging.h>

#include <algorithm>

#include "pkg/http/format.h"
#include "pkg/http/server_connection.h"

namespace http {
namespace {

bool IsContinueAwaited(const Request& request) {
  constexpr std::string_view kContinue = "100-continue";
  const std::string_view value = request.headers.Get("Expect");
  return std::equal(value.begin(), value.end(), kContinue.begin(), kContinue.end(),
                    [](char a, char b) { return (a | 0x20) == (b | 0x20); });
}

std::size_t SizeInMemory(const Headers& headers) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : headers)
    bytes += sizeof(std::string) * 2 + name.size() + value.size();
  return bytes;
}

void Count(int status, ServerStats& turned_away) {
  switch (status) {
    case 408:
      ++turned_away.slow;
      break;
    case 413:
    case 431:
      ++turned_away.too_large;
      break;
    case 429:
      ++turned_away.no_memory;
      break;
    default:
      ++turned_away.malformed;
  }
}

}  // namespace

base::Task<base::Result<std::optional<Request>>> ServerConnection::ReadRequest() {
  phase_ = Phase::kIdle;
  Become(State::kWaiting);
  header_bytes_ = 0;
  // What the previous request held is released; a smaller amount is always granted.
  (void)Hold(Takes());
  parser_ = NewRequestParser(
      {.header_bytes = options_.max_header_bytes, .body_bytes = options_.max_body_bytes});
  auto done = co_await ReadHeader();
  // The client disconnected, or was idle for too long, between two requests: no answer is due.
  if (!done && !parser_->started()) co_return std::optional<Request>();
  if (done) done = co_await ReadBody();
  if (!done) co_return done.error();
  first_ = false;
  co_return std::optional<Request>(std::move(parser_->request));
}

base::Task<base::Result<void>> ServerConnection::ReadHeader() {
  base::TimePoint deadline = In(first_ ? options_.header_timeout : options_.idle_timeout);
  while (!parser_->header_done()) {
    auto fed = co_await FeedParser(deadline);
    if (!fed) co_return fed.error();
    if (phase_ == Phase::kIdle && parser_->started()) {
      phase_ = Phase::kReading;
      idle_.Leave();
      Become(State::kMoving);
      deadline = In(options_.header_timeout);
    }
    // Nearly all headers arrive in one piece.
    const bool waits = phase_ == Phase::kReading && !parser_->header_done();
    if (waits && !Hold(Takes() + options_.max_header_bytes)) co_return NoMemory();
  }
  co_return base::Result<void>();
}

base::Task<base::Result<void>> ServerConnection::ReadBody() {
  header_bytes_ = SizeInMemory(parser_->request.headers);
  const std::size_t announced = parser_->content_length().value_or(0);
  std::string& body = parser_->request.body;
  // The announced length counts before the body is read, so that many slow bodies cannot exceed the
  // bound together.
  if (!Hold(Takes() + std::max(announced, body.size()))) co_return NoMemory();
  if (parser_->done()) co_return base::Result<void>();
  const base::TimePoint deadline = In(options_.body_timeout);
  body.reserve(announced);
  if (IsContinueAwaited(parser_->request)) {
    auto sent = co_await connection_.Send("HTTP/1.1 100 Continue\r\n\r\n", deadline);
    if (!sent) co_return sent.error();
  }
  while (!parser_->done()) {
    auto fed = co_await FeedParser(deadline);
    if (!fed) co_return fed.error();
    const std::size_t grown = Takes() + body.capacity();
    if (grown > held() && !Hold(grown)) co_return NoMemory();
  }
  co_return base::Result<void>();
}

base::Task<base::Result<void>> ServerConnection::FeedParser(base::TimePoint deadline) {
  auto fed = co_await Feed(connection_, *parser_, deadline);
  if (gave_way_) co_return NoMemory();
  co_return fed;
}

// Bytes of the current request: its header, and what has arrived after it.
std::size_t ServerConnection::Takes() const {
  return header_bytes_ + connection_.leftover().size();
}

base::Error ServerConnection::NoMemory() {
  constexpr int kTooManyRequests = 429;
  parser_->refusal = kTooManyRequests;
  return {.code = base::ErrorCode::kTooManyRequests,
          .message = "too much memory is in use for other requests"};
}

// Drops what has arrived of the current request.
void ServerConnection::Forget() {
  std::string().swap(parser_->request.body);
  parser_->request.headers = Headers();
  std::string().swap(connection_.leftover());
}

// Tells a client that still listens what is wrong with its request.
base::Task<void> ServerConnection::Refuse(base::Error why) {
  const int status = why.Is(base::ErrorCode::kTimeout) ? 408 : parser_->refusal;
  if (status == 0) co_return;
  Count(status, turned_away_);
  Forget();
  header_bytes_ = 0;
  (void)Hold(Takes());
  VLOG(1) << "request refused: peer=" << peer_.address << " status=" << status << " "
          << why.message;
  Response response = PlainText(status, status == 408 ? "request timed out" : why.message);
  if (status == 429) response.headers.Add("Retry-After", "1");
  std::string bytes = FormatHead(status, response.headers,
                                 {.chunked = false, .content_length = response.body.size()}, false);
  bytes += response.body;
  const auto sent = co_await connection_.Send(std::move(bytes), In(options_.write_timeout));
  if (sent) co_await connection_.Linger(In(kLinger));
}

}  // namespace http
