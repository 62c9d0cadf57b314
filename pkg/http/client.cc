#include "pkg/http/client.h"

#include <glog/logging.h>

#include <algorithm>
#include <boost/asio/this_coro.hpp>

#include "pkg/base/duration.h"
#include "pkg/base/scheduler.h"
#include "pkg/base/text.h"
#include "pkg/http/dialer.h"
#include "pkg/http/format.h"
#include "pkg/http/gzip.h"
#include "pkg/http/parser.h"
#include "pkg/http/pool.h"
#include "pkg/http/proxy.h"

namespace http {
namespace {

using base::ErrorCode;
using base::Result;
using base::Task;
using base::TimePoint;
using std::chrono::milliseconds;

// 1xx, before the real answer. A server sends one or two.
constexpr int kMostInterim = 10;

TimePoint Now() { return base::RealClock().Now(); }

// Caps the timeout at a year, so that no time point overflows.
TimePoint In(milliseconds timeout) {
  return Now() + std::min<milliseconds>(timeout, std::chrono::hours(24 * 365));
}

// Runs `operation` with cancellation as a state to check, whatever the caller has chosen. Our calls
// return kCancelled and never throw.
template <typename T>
Task<Result<T>> ReturnCancellation(Task<Result<T>> operation) {
  namespace this_coro = boost::asio::this_coro;
  const auto state = co_await this_coro::cancellation_state;
  if (state.cancelled() != boost::asio::cancellation_type::none) {
    co_return base::Error{.code = ErrorCode::kCancelled, .message = "HTTP request cancelled"};
  }
  const bool throws = co_await this_coro::throw_if_cancelled();
  co_await this_coro::throw_if_cancelled(false);
  Result<T> result = co_await std::move(operation);
  co_await this_coro::throw_if_cancelled(throws);
  co_return result;
}

bool IsSafeToRepeat(const std::string& method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS";
}

bool HasBodyByNature(const std::string& method) {
  return method == "POST" || method == "PUT" || method == "PATCH";
}

// A connection with a sent request, and its response read up to the end of the header.
struct Exchange {
  std::unique_ptr<Connection> connection;
  std::unique_ptr<ResponseParser> parser;
  int generation = 0;  // the pool's, when the connection was taken
  bool pooled = false;
};

class AsioClient;

class Body final : public BodyStream {
 public:
  Body(Pool* pool, Exchange exchange, bool gzip)
      : pool_(*pool), exchange_(std::move(exchange)), gunzip_(gzip ? NewGunzip() : nullptr) {}

  Task<Result<std::optional<std::string>>> Read(milliseconds timeout) override;
  Task<Result<std::optional<std::string>>> ReadBefore(TimePoint deadline);

 private:
  Result<std::string> TakePiece();
  Result<void> End();

  Pool& pool_;
  Exchange exchange_;  // has no connection once the body has ended or failed
  std::unique_ptr<Gunzip> gunzip_;
  std::optional<base::Error> failed_;
};

Task<Result<std::optional<std::string>>> Body::Read(milliseconds timeout) {
  auto piece = co_await ReturnCancellation(ReadBefore(In(timeout)));
  if (!piece && piece.error().Is(ErrorCode::kTimeout)) {
    base::Error silence = piece.error();
    silence.message += ", no byte of the body for " + base::FormatDuration(timeout);
    co_return silence;
  }
  co_return piece;
}

Task<Result<std::optional<std::string>>> Body::ReadBefore(TimePoint deadline) {
  while (!failed_) {
    auto piece = TakePiece();
    Result<void> done;
    if (piece && !piece->empty()) {
      // A small body may decode to many pieces.
      if (gunzip_ && exchange_.connection) {
        done = co_await exchange_.connection->LetOthersRun(deadline);
      }
      if (done) co_return std::optional<std::string>(std::move(*piece));
      failed_ = done.error();
      break;
    }
    if (!piece) {
      done = piece.error().Wrap(exchange_.connection->peer());
    } else if (!exchange_.connection) {
      co_return std::optional<std::string>();
    } else if (exchange_.parser->done()) {
      done = End();
    } else {
      done = co_await Feed(*exchange_.connection, *exchange_.parser, deadline);
      if (!done) pool_.OnFailure(done.error());
    }
    if (!done) failed_ = done.error();
  }
  exchange_.connection.reset();
  co_return *failed_;
}

// Returns the available part of the body; "" if there is none yet.
Result<std::string> Body::TakePiece() {
  std::string raw = std::exchange(exchange_.parser->response.body, std::string());
  if (!gunzip_) return raw;
  if (!raw.empty()) gunzip_->Add(std::move(raw));
  return gunzip_->Take();
}

Result<void> Body::End() {
  if (gunzip_ && !gunzip_->AtEnd()) {
    return base::Error{.code = ErrorCode::kMalformed,
                       .message = exchange_.connection->peer() + ": bad gzip: truncated"};
  }
  std::unique_ptr<Connection> connection = std::move(exchange_.connection);
  // Bytes after the answer mean that the server is out of step: close the connection.
  if (exchange_.parser->keep_alive() && connection->leftover().empty()) {
    pool_.Put(std::move(connection), exchange_.generation, Now());
  }
  return {};
}

// What one answer adds to a sum.
class Holding {
 public:
  explicit Holding(std::size_t& sum) : sum_(sum) {}
  ~Holding() { Set(0); }
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;
  void Set(std::size_t bytes) {
    CHECK_LE(bytes_, sum_) << "an answer holds more bytes than all answers";
    sum_ = sum_ - std::exchange(bytes_, bytes) + bytes;
  }

 private:
  std::size_t& sum_;
  std::size_t bytes_ = 0;
};

class AsioClient final : public Client {
 public:
  AsioClient(base::asio::any_io_executor executor, ClientOptions options)
      : options_(std::move(options)),
        dialer_(std::move(executor), options_.server, options_.proxy),
        pool_(options_.max_idle_connections, options_.idle_timeout) {}

  Task<Result<Response>> Do(Request request, milliseconds timeout) override;
  Task<Result<StreamedResponse>> Open(Request request, bool accept_gzip,
                                      milliseconds timeout) override;
  void CloseIdle() override { pool_.Clear(); }
  Result<void> SetTls(TlsOptions tls) override;

 private:
  Task<Result<Response>> DoBefore(Request request, TimePoint deadline);
  Task<Result<StreamedResponse>> OpenBefore(Request request, bool accept_gzip, TimePoint deadline);
  Task<Result<Exchange>> Begin(Request request, TimePoint deadline);
  Task<Result<Exchange>> Take(bool fresh, TimePoint deadline);
  Task<Result<void>> SendAndReadHeader(Exchange& exchange, std::string bytes, bool head_only,
                                       TimePoint deadline);
  Task<Result<void>> ReadHeader(Exchange& exchange, bool head_only, TimePoint deadline);
  void Complete(Request* request, bool accept_gzip) const;
  static StreamedResponse Decode(Pool* pool, Exchange exchange, bool gzip_asked);
  [[nodiscard]] base::Error BodyError(ErrorCode code, std::string_view why, std::size_t most) const;

  const ClientOptions options_;
  std::size_t held_bytes_ = 0;
  Dialer dialer_;
  Pool pool_;
};

Result<void> AsioClient::SetTls(TlsOptions tls) {
  auto done = dialer_.SetTls(tls);
  // Idle connections were made with the old certificates.
  if (done) pool_.Clear();
  return done;
}

Task<Result<Response>> AsioClient::Do(Request request, milliseconds timeout) {
  auto response = co_await ReturnCancellation(DoBefore(std::move(request), In(timeout)));
  if (!response && response.error().Is(ErrorCode::kTimeout)) {
    base::Error late = response.error();
    late.message += ", no whole answer within " + base::FormatDuration(timeout);
    co_return late;
  }
  co_return response;
}

Task<Result<StreamedResponse>> AsioClient::Open(Request request, bool accept_gzip,
                                                milliseconds timeout) {
  auto response =
      co_await ReturnCancellation(OpenBefore(std::move(request), accept_gzip, In(timeout)));
  if (!response && response.error().Is(ErrorCode::kTimeout)) {
    base::Error late = response.error();
    late.message += ", no answer within " + base::FormatDuration(timeout);
    co_return late;
  }
  co_return response;
}

Task<Result<Response>> AsioClient::DoBefore(Request request, TimePoint deadline) {
  const std::size_t most = request.max_answer_bytes.value_or(options_.max_body_bytes);
  auto opened = co_await OpenBefore(std::move(request), options_.gzip, deadline);
  if (!opened) co_return opened.error();
  Response response{.status = opened->status, .headers = std::move(opened->headers), .body = {}};
  auto& body = static_cast<Body&>(*opened->body);
  Holding holding(held_bytes_);
  for (;;) {
    auto piece = co_await body.ReadBefore(deadline);
    if (!piece) co_return piece.error();
    if (!*piece) co_return response;
    const std::size_t bytes = response.body.size() + (*piece)->size();
    if (response.status >= 400 && bytes > options_.max_refusal_bytes) {
      // The status matters, and the beginning of the text says why.
      response.body.append(**piece).resize(options_.max_refusal_bytes);
      co_return response;
    }
    if (bytes > most) co_return BodyError(ErrorCode::kTooLarge, "is larger than", most);
    holding.Set(bytes);
    if (held_bytes_ > options_.max_held_bytes) {
      co_return BodyError(ErrorCode::kUnavailable, "and others hold more than",
                          options_.max_held_bytes);
    }
    if (response.body.empty()) {
      response.body = std::move(**piece);
    } else {
      response.body.append(**piece);
    }
  }
}

base::Error AsioClient::BodyError(ErrorCode code, std::string_view why, std::size_t most) const {
  std::string message = options_.server.Authority() + ": the body ";
  message.append(why).append(" ").append(std::to_string(most)).append(" bytes");
  return {.code = code, .message = std::move(message)};
}

Task<Result<StreamedResponse>> AsioClient::OpenBefore(Request request, bool accept_gzip,
                                                      TimePoint deadline) {
  // A caller that sets Accept-Encoding wants the encoded body.
  const bool decodes = !request.headers.Has("Accept-Encoding");
  Complete(&request, accept_gzip && options_.gzip);
  auto exchange = co_await Begin(std::move(request), deadline);
  if (!exchange) co_return exchange.error();
  co_return Decode(&pool_, std::move(*exchange), decodes);
}

// Adds the fields of all our requests.
void AsioClient::Complete(Request* request, bool accept_gzip) const {
  Headers& headers = request->headers;
  if (!headers.Has("Host")) headers.Add("Host", options_.server.HostField());
  if (accept_gzip && !headers.Has("Accept-Encoding")) headers.Add("Accept-Encoding", "gzip");
  if (!dialer_.absolute_targets()) return;
  request->target = "http://" + options_.server.Authority() + request->target;
  const std::string authorization = ProxyAuthorization(*options_.proxy);
  if (!authorization.empty()) headers.Set("Proxy-Authorization", authorization);
}

StreamedResponse AsioClient::Decode(Pool* pool, Exchange exchange, bool decodes) {
  StreamedResponse response;
  response.status = exchange.parser->response.status;
  response.headers = std::move(exchange.parser->response.headers);
  const bool gzip = decodes && base::ToLower(response.headers.Get("Content-Encoding")) == "gzip";
  if (gzip) {
    // Both describe the encoded body.
    response.headers.Remove("Content-Encoding");
    response.headers.Remove("Content-Length");
  }
  response.body = std::make_unique<Body>(pool, std::move(exchange), gzip);
  return response;
}

Task<Result<Exchange>> AsioClient::Begin(Request request, TimePoint deadline) {
  Framing framing;
  // Servers expect a Content-Length with these methods, even if it is 0.
  if (!request.body.empty() || HasBodyByNature(request.method)) {
    framing.content_length = request.body.size();
  }
  std::string bytes = FormatHead(request, framing);
  bytes += request.body;
  request.body = std::string();  // `bytes` has it now
  for (bool fresh = false;; fresh = true) {
    auto exchange = co_await Take(fresh, deadline);
    if (!exchange) co_return exchange.error();
    const std::uint64_t written = exchange->connection->socket().bytes_written();
    auto done = co_await SendAndReadHeader(*exchange, bytes, request.method == "HEAD", deadline);
    if (done) co_return std::move(*exchange);
    pool_.OnFailure(done.error());
    // The server may have closed a pooled connection just when we used it.
    const bool unsent = exchange->connection->socket().bytes_written() == written;
    const bool stale = exchange->pooled && !exchange->parser->started() &&
                       done.error().Is(ErrorCode::kUnavailable);
    if (!stale || !(unsent || IsSafeToRepeat(request.method))) co_return done.error();
  }
}

Task<Result<Exchange>> AsioClient::Take(bool fresh, TimePoint deadline) {
  Exchange exchange;
  // Read before the dial: after a Clear() in the meantime the connection is not kept.
  exchange.generation = pool_.generation();
  if (!fresh) exchange.connection = pool_.Take(Now());
  exchange.pooled = exchange.connection != nullptr;
  if (exchange.pooled) co_return exchange;
  const TimePoint connects = std::min(deadline, In(options_.connect_timeout));
  auto connected = co_await dialer_.Connect(connects);
  if (!connected) co_return connected.error();
  const auto prepared = co_await dialer_.Prepare(**connected, connects);
  if (!prepared) {
    pool_.OnFailure(prepared.error());
    co_return prepared.error();
  }
  exchange.connection = std::move(*connected);
  co_return exchange;
}

Task<Result<void>> AsioClient::SendAndReadHeader(Exchange& exchange, std::string bytes,
                                                 bool head_only, TimePoint deadline) {
  exchange.parser = NewResponseParser(head_only);
  const auto sent = co_await exchange.connection->Send(std::move(bytes), deadline);
  if (!sent && !sent.error().Is(ErrorCode::kUnavailable)) co_return sent.error();
  // A server that refuses a body early may have answered before it closed: read the answer.
  auto done = co_await ReadHeader(exchange, head_only, deadline);
  if (!sent && !done) co_return sent.error();
  co_return done;
}

Task<Result<void>> AsioClient::ReadHeader(Exchange& exchange, bool head_only, TimePoint deadline) {
  for (int interim = 0; interim <= kMostInterim;) {
    auto fed = co_await Feed(*exchange.connection, *exchange.parser, deadline);
    if (!fed) co_return fed.error();
    if (!exchange.parser->header_done()) continue;
    if (exchange.parser->response.status >= 200) co_return Result<void>();
    // An interim answer (1xx); the real one follows.
    ++interim;
    exchange.parser = NewResponseParser(head_only);
  }
  co_return base::Error{.code = ErrorCode::kMalformed,
                        .message = exchange.connection->peer() + ": too many interim answers"};
}

}  // namespace

Result<std::unique_ptr<Client>> NewClient(base::asio::any_io_executor executor,
                                          ClientOptions options) {
  if (options.server.scheme != "http" && options.server.scheme != "https") {
    return base::Error{
        .code = ErrorCode::kInvalidArgument,
        .message = "server URL: the scheme \"" + options.server.scheme + "\" is not http or https"};
  }
  TlsOptions tls = options.tls;
  auto client = std::make_unique<AsioClient>(std::move(executor), std::move(options));
  auto done = client->SetTls(std::move(tls));
  if (!done) return done.error();
  return std::unique_ptr<Client>(std::move(client));
}

}  // namespace http
