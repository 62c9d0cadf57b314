#include "pkg/client/rest_client.h"

#include <algorithm>
#include <utility>

#include "pkg/api/time.h"
#include "pkg/base/text.h"
#include "pkg/client/api_error.h"
#include "pkg/client/retry_policy.h"
#include "pkg/client/timed_body.h"

namespace client {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

// How long a user may take to answer an exec plugin.
constexpr std::chrono::hours kUserPatience{1};
constexpr std::size_t kMaxRefusalBytes = std::size_t{256} << 10;

std::string Action(const ApiRequest& request) { return request.verb + " " + request.path; }

bool IsSuccess(int status) { return status >= 200 && status < 300; }

bool IsWatch(const ApiRequest& request) {
  return std::any_of(request.query.begin(), request.query.end(), [](const auto& parameter) {
    return parameter.first == "watch" && (parameter.second == "1" || parameter.second == "true");
  });
}

// Header names are case-insensitive, so keys are sent in lower case and escaped.
std::string ExtraHeader(std::string_view key) {
  return "Impersonate-Extra-" + http::EncodeComponent(base::ToLower(key));
}

http::Headers FixedHeaders(const RestOptions& options, const Impersonation& as) {
  http::Headers headers;
  headers.Add("User-Agent", options.user_agent);
  if (as.user.empty()) return headers;
  headers.Add("Impersonate-User", as.user);
  if (!as.uid.empty()) headers.Add("Impersonate-Uid", as.uid);
  for (const std::string& group : as.groups) headers.Add("Impersonate-Group", group);
  for (const auto& [key, value] : as.extra) headers.Add(ExtraHeader(key), value);
  return headers;
}

// Returns the time until `deadline`, at least a millisecond.
milliseconds Left(const base::Clock& clock, base::TimePoint deadline) {
  return std::max(milliseconds(1), duration_cast<milliseconds>(deadline - clock.Now()));
}

// Reads the body of a refusal that arrives as a stream. An incomplete text is good enough.
base::Task<std::string> ReadRefusal(std::unique_ptr<http::BodyStream> body,
                                    const base::Clock& clock, base::TimePoint deadline) {
  std::string text;
  while (text.size() < kMaxRefusalBytes && clock.Now() < deadline) {
    const milliseconds left = Left(clock, deadline);
    Result<std::optional<std::string>> part = co_await body->Read(left);
    if (!part || !*part) break;
    text += **part;
  }
  co_return text;
}

// Tells what arrives of a body.
class HeardBody final : public http::BodyStream {
 public:
  HeardBody(std::unique_ptr<http::BodyStream> body, Reachability& reachability)
      : body_(std::move(body)), reachability_(reachability) {}
  base::Task<Result<std::optional<std::string>>> Read(milliseconds timeout) override {
    Result<std::optional<std::string>> part = co_await body_->Read(timeout);
    if (part && *part) reachability_.OnBytes();
    co_return part;
  }

 private:
  std::unique_ptr<http::BodyStream> body_;
  Reachability& reachability_;
};

}  // namespace

std::string UserAgent(std::string_view version) {
#if defined(__aarch64__)
  constexpr std::string_view kPlatform = "linux/arm64";
#else
  constexpr std::string_view kPlatform = "linux/amd64";
#endif
  return "quota-controller-manager/" + std::string(version) + " (" + std::string(kPlatform) + ")";
}

RestClient::RestClient(base::asio::any_io_executor executor, base::Scheduler& scheduler,
                       std::unique_ptr<http::Client> http, ClusterConfig config,
                       const RestOptions& options)
    : scheduler_(scheduler),
      http_(std::move(http)),
      tls_(*http_, config, scheduler.Now()),
      server_(config.server),
      fixed_headers_(FixedHeaders(options, config.impersonate)),
      compress_(!config.disable_compression),
      asks_user_(config.plugin_input != PluginInput::kDaemon),
      observer_(options.observer),
      reachability_(options.reachability),
      timeout_(options.timeout) {
  credentials_ = NewCredentialSource(std::move(executor), scheduler_, tls_, std::move(config));
}

http::Request RestClient::Prepare(const ApiRequest& request) const {
  http::Request prepared;
  prepared.method = request.verb;
  prepared.target = server_.path + request.path;
  if (!request.query.empty()) prepared.target += "?" + http::EncodeQuery(request.query);
  prepared.headers = fixed_headers_;
  prepared.headers.Add("Accept", request.accept);
  if (!request.content_type.empty()) prepared.headers.Add("Content-Type", request.content_type);
  if (!request.if_none_match.empty()) prepared.headers.Add("If-None-Match", request.if_none_match);
  prepared.body = request.body;
  prepared.max_answer_bytes = request.max_answer_bytes;
  return prepared;
}

base::Task<Result<RestClient::Ready>> RestClient::Authorize(ApiRequest request,
                                                            base::TimePoint deadline) {
  const base::TimePoint began = scheduler_.Now();
  if (server_.scheme == "https") tls_.Refresh(began);
  Result<Credential> credential =
      co_await credentials_->Get(asks_user_ ? began + kUserPatience : deadline);
  if (asks_user_) deadline += scheduler_.Now() - began;
  if (!credential) co_return credential.error().Wrap(Action(request));
  // A plugin may have taken all the time.
  if (scheduler_.Now() >= deadline) {
    co_return Error{.code = ErrorCode::kTimeout,
                    .message = Action(request) + ": no time is left to send it"};
  }
  Ready ready;
  ready.deadline = deadline;
  ready.identity.credential = credential->generation;
  ready.identity.certificates = tls_.generation();
  ready.request = Prepare(request);
  if (!credential->authorization.empty()) {
    ready.request.headers.Add("Authorization", credential->authorization);
  }
  co_return ready;
}

void RestClient::Observe(Exchange exchange, base::TimePoint began) const {
  if (observer_ == nullptr) return;
  exchange.took = scheduler_.Now() - began;
  observer_->OnExchange(exchange);
}

Result<ApiResponse> RestClient::Judge(const ApiRequest& request, http::Response response) const {
  const bool unchanged = response.status == 304 && !request.if_none_match.empty();
  if (!IsSuccess(response.status) && !unchanged) {
    return ErrorFromAnswer(request.verb, request.path, response.status,
                           response.headers.Get("Retry-After"), response.body);
  }
  std::optional<Error> failure = FailureInSuccess(request.verb, request.path, response.body);
  if (failure) return *std::move(failure);
  return ApiResponse{response.status, std::move(response.headers), std::move(response.body)};
}

bool RestClient::Renew(const Error& error, const Identity& sent) {
  bool better = error.http_status == 401 && credentials_->Reject(sent.credential);
  if (server_.scheme == "https" && tls_.Reject(sent.certificates, scheduler_.Now())) better = true;
  return better;
}

Error RestClient::Explain(Error error) const {
  if (error.http_status != 401) return error;
  // An API server asks for a certificate, but refuses an expired one only in its answer.
  const auto expired = tls_.ExpiredAt(scheduler_.WallNow());
  if (expired) {
    error.message += " (the client certificate expired at " + api::FormatTime(*expired) + ")";
  }
  return error;
}

Error RestClient::Failed(Error error) const {
  if (reachability_ != nullptr) reachability_->OnError(error);
  return error;
}

base::Task<Result<ApiResponse>> RestClient::Send(ApiRequest request, Ready ready) {
  const base::TimePoint began = scheduler_.Now();
  const milliseconds left = Left(scheduler_, ready.deadline);
  const std::string target = ready.request.target;
  Result<http::Response> response = co_await http_->Do(std::move(ready.request), left);
  Observe({.verb = request.verb,
           .target = target,
           .code = response ? response->status : 0,
           .sent_bytes = request.body.size(),
           .received_bytes = response ? response->body.size() : 0},
          began);
  if (!response) co_return response.error().Wrap(Action(request));
  co_return Judge(request, std::move(*response));
}

base::Task<Result<RestClient::Body>> RestClient::Open(ApiRequest request, Ready ready) {
  const base::TimePoint began = scheduler_.Now();
  const milliseconds left = Left(scheduler_, ready.deadline);
  // Compression could hold back small events of a watch.
  const bool gzip = compress_ && !IsWatch(request);
  const std::string target = ready.request.target;
  Result<http::StreamedResponse> response =
      co_await http_->Open(std::move(ready.request), gzip, left);
  Observe({.verb = request.verb,
           .target = target,
           .code = response ? response->status : 0,
           .streamed = true},
          began);
  if (!response) co_return response.error().Wrap(Action(request));
  if (!IsSuccess(response->status)) {
    const std::string refusal =
        co_await ReadRefusal(std::move(response->body), scheduler_, ready.deadline);
    co_return ErrorFromAnswer(request.verb, request.path, response->status,
                              response->headers.Get("Retry-After"), refusal);
  }
  Body body = std::move(response->body);
  if (reachability_ != nullptr) body = std::make_unique<HeardBody>(std::move(body), *reachability_);
  if (!timeout_ || IsWatch(request)) co_return body;
  co_return std::make_unique<TimedBody>(std::move(body), scheduler_, ready.deadline);
}

template <typename T>
base::Task<Result<T>> RestClient::Repeat(ApiRequest request, Try<T> try_once) {
  const bool once = IsWatch(request);
  const milliseconds timeout = once ? request.timeout : timeout_.value_or(request.timeout);
  base::TimePoint deadline = scheduler_.Now() + timeout;
  RetryPolicy retry(request.verb);
  bool renewed = false;  // after a refusal or a failure of TLS
  for (;;) {
    Result<Ready> ready = co_await Authorize(request, deadline);
    if (!ready) co_return Failed(ready.error());
    deadline = ready->deadline;
    const Identity sent = ready->identity;
    Result<T> answer = co_await (this->*try_once)(request, std::move(*ready));
    if (answer) {
      if (reachability_ != nullptr) reachability_->OnAnswer();
      co_return answer;
    }
    const Error error = Failed(Explain(answer.error()));
    const bool refused = error.http_status == 401;
    if (refused || error.Is(ErrorCode::kTls)) {
      // After a 401 any request may be repeated, because the server did nothing, but only once: the
      // new credential may be rejected, too.
      const bool repeatable = refused || request.verb == "GET";
      const bool better = Renew(error, sent);
      if (!better || !repeatable || renewed || once) co_return error;
      renewed = true;
      if (observer_ != nullptr) observer_->OnRetry(request.verb, error.http_status);
      continue;
    }
    std::optional<base::Duration> delay;
    if (!once) delay = retry.Next(error);
    if (!delay || scheduler_.Now() + *delay >= deadline) co_return error;
    if (observer_ != nullptr) observer_->OnRetry(request.verb, error.http_status);
    co_await scheduler_.Sleep(*delay);
    if (co_await base::Stopping()) {
      co_return Error{.code = ErrorCode::kCancelled, .message = Action(request) + ": cancelled"};
    }
  }
}

base::Task<Result<ApiResponse>> RestClient::Do(ApiRequest request) {
  return Repeat<ApiResponse>(std::move(request), &RestClient::Send);
}

base::Task<Result<std::unique_ptr<http::BodyStream>>> RestClient::Stream(ApiRequest request) {
  return Repeat<Body>(std::move(request), &RestClient::Open);
}

base::Task<void> RestClient::Close() {
  co_await credentials_->Close();
  http_->CloseIdle();
}

Result<std::unique_ptr<RestClient>> NewRestClient(base::asio::any_io_executor executor,
                                                  base::Scheduler& scheduler, ClusterConfig config,
                                                  const RestOptions& options) {
  http::ClientOptions http_options;
  http_options.server = config.server;
  http_options.server.path.clear();  // Prepare() puts it before every path
  http_options.tls = config.tls;
  http_options.proxy = config.proxy;
  http_options.gzip = !config.disable_compression;
  Result<std::unique_ptr<http::Client>> http = http::NewClient(executor, std::move(http_options));
  if (!http) return http.error().Wrap(config.Describe());
  return std::make_unique<RestClient>(std::move(executor), scheduler, std::move(*http),
                                      std::move(config), options);
}

}  // namespace client
