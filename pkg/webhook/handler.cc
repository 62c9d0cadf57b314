#include "pkg/webhook/handler.h"

#include <glog/logging.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "pkg/api/status.h"
#include "pkg/base/duration.h"
#include "pkg/webhook/shared_rules.h"

namespace webhook {
namespace {

using admission::Admitter;
using admission::Answer;
using admission::FieldsOf;
using admission::Observer;
using admission::Operation;
using admission::Refusal;
using admission::Review;
using admission::ReviewParser;
using admission::TriedQuota;

constexpr std::string_view kJson = "application/json";
constexpr int kRetryAfterSeconds = 1;  // the smallest value of the header

http::Response JsonResponse(int status, std::string body) {
  return {
      .status = status, .headers = {{"Content-Type", std::string(kJson)}}, .body = std::move(body)};
}

http::Response Failure(const api::Status& status) {
  http::Response response = JsonResponse(status.code, json::Write(status.ToJson()));
  if (status.retry_after_seconds > 0) {
    response.headers.Add("Retry-After", std::to_string(status.retry_after_seconds));
  }
  return response;
}

http::Response MethodNotAllowed(std::string_view method) {
  api::Status status = api::BadRequest("reviews are sent by POST, not by " + std::string(method));
  status.code = 405;
  status.reason = "MethodNotAllowed";
  http::Response response = Failure(status);
  response.headers.Add("Allow", "POST");
  return response;
}

http::Response UnknownPath(std::string_view target) {
  const std::string path(target.substr(0, target.find('?')));
  api::Status status = api::BadRequest("no quota API has the path " + path);
  status.code = 404;
  status.reason = "NotFound";
  return Failure(status);
}

http::Response Busy(std::string_view why) {
  return Failure(api::TooManyRequests(why, kRetryAfterSeconds));
}

http::Response NotRead(const base::Error& error) {
  return Failure(error.Is(base::ErrorCode::kTooLarge) ? api::RequestEntityTooLarge(error.message)
                                                      : api::BadRequest(error.message));
}

// The memory of a review while it is decided: its objects, and about as much for what is computed
// from them.
std::size_t MemoryOf(const Review& review) {
  return 2 * (json::SizeInMemory(review.object) + json::SizeInMemory(review.old_object));
}

// Accepts parameters: "application/json; charset=utf-8".
bool IsJson(std::string_view content_type) {
  std::string_view media = content_type.substr(0, content_type.find(';'));
  while (media.ends_with(' ') || media.ends_with('\t')) media.remove_suffix(1);
  return std::equal(media.begin(), media.end(), kJson.begin(), kJson.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a | 0x20 : a) == b; });
}

std::string_view ResultOf(Answer::Kind kind) {
  switch (kind) {
    case Answer::Kind::kAllowed:
      return "allowed";
    case Answer::Kind::kRefused:
      return "refused";
    case Answer::Kind::kBusy:
      return "busy";
    case Answer::Kind::kUnavailable:
      break;
  }
  return "unavailable";
}

// A 503 has no Retry-After: the caller has waited for most of its timeout already. With the header,
// the API server's client would repeat the call, which doubles the load of an API server in
// trouble, run into its timeout, and show the user that error instead of our text.
http::Response ResponseFor(const Review& review, const Answer& answer) {
  switch (answer.kind) {
    case Answer::Kind::kAllowed:
    case Answer::Kind::kRefused:
      return JsonResponse(200, FormatAnswer(review, answer));
    case Answer::Kind::kBusy: {
      const auto seconds = std::max<std::int64_t>(answer.retry_after.count(), kRetryAfterSeconds);
      return Failure(api::TooManyRequests(answer.message, static_cast<int>(seconds)));
    }
    case Answer::Kind::kUnavailable:
      break;
  }
  return Failure(api::ServiceUnavailable(answer.message));
}

// A webhook: its path names one quota API, or all that share it.
struct Endpoint {
  std::string name;
  std::vector<std::string> quota_apis;
};

// The endpoints of all webhooks that there may be, by path: one for each subset of the quota APIs.
std::map<std::string, Endpoint> EndpointsOf(const std::vector<std::string>& quota_apis,
                                            const std::string& path) {
  CHECK_LT(quota_apis.size(), 8U) << "an endpoint for each subset would be too many";
  std::map<std::string, Endpoint> endpoints;
  for (unsigned subset = 1; subset < 1U << quota_apis.size(); ++subset) {
    std::set<std::string> sharing;
    for (std::size_t i = 0; i < quota_apis.size(); ++i) {
      if ((subset >> i & 1U) != 0) sharing.insert(quota_apis[i]);
    }
    const std::string name = Together(sharing);
    std::string target = path;
    target.append("/").append(name);
    endpoints[target] = {name, {sharing.begin(), sharing.end()}};
  }
  return endpoints;
}

class ReviewHandler {
 public:
  ReviewHandler(Admitter& admitter, Observer& observer, const base::Clock& clock,
                HandlerOptions options)
      : admitter_(admitter),
        observer_(observer),
        clock_(clock),
        options_(std::move(options)),
        endpoints_(EndpointsOf(admitter.quota_apis(), options_.path)),
        fields_of_([&admitter](const auto& resource) { return admitter.FieldsOf(resource); }) {}

  base::Task<void> Handle(http::Request request, http::ResponseWriter& writer) {
    const base::TimePoint begun = clock_.Now();
    auto target = http::ParseTarget(request.target);
    const auto found = target ? endpoints_.find(target->path) : endpoints_.end();
    if (found == endpoints_.end()) {
      http::Response unknown = UnknownPath(request.target);
      co_await writer.Send(std::move(unknown));
      co_return;
    }
    const Endpoint& endpoint = found->second;
    auto asked = Ask(endpoint, request, *target, begun);
    if (!asked.review) {
      observer_.OnDecision(endpoint.name, asked.result, clock_.Now() - begun);
      co_await writer.Send(std::move(asked.refusal));
      co_return;
    }
    std::string().swap(request.body);  // a review that waits does not hold its body
    if (!writer.Keep(MemoryOf(*asked.review))) {
      observer_.OnDecision(endpoint.name, "busy", clock_.Now() - begun);
      co_await writer.Send(Busy("too much memory is held for other reviews"));
      co_return;
    }
    const Review answered = Envelope(*asked.review);
    const Answer answer = co_await Decide(std::move(*asked.review), asked.deadline);
    observer_.OnDecision(endpoint.name, ResultOf(answer.kind), clock_.Now() - begun);
    TellRefusal(endpoint, answered, answer);
    http::Response response = ResponseFor(answered, answer);
    co_await writer.Send(std::move(response));
  }

 private:
  // The result of parsing a request: a review, or the response that refuses it.
  struct Asked {
    std::optional<Review> review;
    base::TimePoint deadline{};
    http::Response refusal;
    std::string_view result;  // for the metric, of a refusal
  };
  // Counts a review while it is in hand, also if its coroutine is destroyed.
  struct InHand {
    explicit InHand(std::size_t& counter) : count(counter) { ++count; }
    ~InHand() { --count; }
    InHand(const InHand&) = delete;
    InHand& operator=(const InHand&) = delete;
    std::size_t& count;
  };

  static Asked Refuse(http::Response refusal, std::string_view result = "malformed") {
    return {.review = {}, .refusal = std::move(refusal), .result = result};
  }

  // The parts of a review that its answer repeats. Moves the owner out of the review: the event
  // about a refusal needs it.
  static Review Envelope(Review& review) {
    Review envelope;
    envelope.uid = review.uid;
    envelope.resource = review.resource;
    envelope.ns = review.ns;
    envelope.name = review.name;
    envelope.dry_run = review.dry_run;
    envelope.owner = std::move(review.owner);
    return envelope;
  }

  void TellRefusal(const Endpoint& endpoint, const Review& review, const Answer& answer) {
    if (review.dry_run) return;
    for (const TriedQuota& tried : answer.would_refuse) {
      Refusal refusal = RefusalBy(review, tried.would.quota, "", WouldRefuseMessage(review, tried));
      refusal.mode = tried.would.mode;
      observer_.OnWouldRefuse(tried.quota_api, refusal);
    }
    if (answer.kind != Answer::Kind::kRefused || !answer.refuser) return;
    const bool own = answer.quota_api.empty();
    observer_.OnRefusal(
        own ? endpoint.name : answer.quota_api,
        RefusalBy(review, *answer.refuser, answer.refused_by_cluster_quota ? "" : review.ns,
                  RefusalMessage(review, answer)));
  }

  static Refusal RefusalBy(const Review& review, const quota::Refuser& refuser, std::string ns,
                           std::string message) {
    return {.quota = {std::move(ns), refuser.name},
            .ns = review.ns,
            .quota_uid = refuser.uid,
            .exceeded = refuser.exceeded,
            .owner = review.owner,
            .message = std::move(message)};
  }

  Asked Ask(const Endpoint& endpoint, const http::Request& request, const http::Target& target,
            base::TimePoint begun) {
    if (request.method != "POST") return Refuse(MethodNotAllowed(request.method));
    if (!IsJson(request.headers.Get("Content-Type"))) {
      return Refuse(Failure(api::UnsupportedMediaType({std::string(kJson)})));
    }
    if (in_hand_ >= options_.max_in_hand) {
      return Refuse(Busy("too many reviews at once: " + std::to_string(in_hand_) + " are in hand"),
                    "busy");
    }
    const auto wait = WaitFor(target.Get("timeout"));
    if (!wait) return Refuse(Failure(api::BadRequest(wait.error().message)));
    auto review = parser_.Parse(request.body, fields_of_);
    if (!review) return Refuse(NotRead(review.error()));
    review->called_for = endpoint.quota_apis;
    return {.review = std::move(*review), .deadline = begun + *wait, .refusal = {}, .result = {}};
  }

  // How long an admitter may take. A caller without ?timeout= has a timeout all the same.
  base::Result<base::Duration> WaitFor(std::string_view timeout) const {
    if (timeout.empty()) return options_.max_wait;
    auto parsed = base::ParseDuration(timeout);
    if (!parsed) return parsed.error().Wrap("timeout");
    if (parsed->count() < 0) {
      return base::Error{.code = base::ErrorCode::kInvalidArgument,
                         .message = "timeout: " + std::string(timeout) + " is negative"};
    }
    if (parsed->count() == 0) return options_.max_wait;
    const base::Duration margin = std::min<base::Duration>(options_.margin, *parsed / 4);
    return std::min<base::Duration>(options_.max_wait, *parsed - margin);
  }

  base::Task<Answer> Decide(Review review, base::TimePoint deadline) {
    // A DELETE frees quota, and a CONNECT uses none.
    const bool judged =
        review.operation == Operation::kCreate || review.operation == Operation::kUpdate;
    if (!judged) co_return Answer{};
    const InHand in_hand(in_hand_);
    CHECK_LE(in_hand_, options_.max_in_hand) << "more reviews are in hand than may be";
    co_return co_await admitter_.Admit(std::move(review), deadline);
  }

  Admitter& admitter_;
  Observer& observer_;
  const base::Clock& clock_;
  const HandlerOptions options_;
  const std::map<std::string, Endpoint> endpoints_;
  const FieldsOf fields_of_;
  ReviewParser parser_;
  std::size_t in_hand_ = 0;
};

}  // namespace

http::Handler NewHandler(Admitter& admitter, Observer& observer, const base::Clock& clock,
                         HandlerOptions options) {
  auto handler = std::make_shared<ReviewHandler>(admitter, observer, clock, std::move(options));
  return [handler](http::Request request, const http::Peer&, http::ResponseWriter& writer) {
    return handler->Handle(std::move(request), writer);
  };
}

http::ServerOptions WebhookServerOptions() {
  http::ServerOptions options;
  options.max_body_bytes = std::size_t{16} << 20;
  options.max_held_bytes = std::size_t{64} << 20;
  // A body of the largest size, beside the handshakes of 85 others.
  options.max_unproven_bytes = std::size_t{20} << 20;
  options.max_header_bytes = std::size_t{16} << 10;
  options.header_timeout = options.body_timeout = options.write_timeout = std::chrono::seconds(15);
  options.max_requests_per_connection = 50'000;
  options.idle.most = 25;  // client-go v0.36.3, transport/cache.go, idleConnsPerHost
  options.max_connection_age = std::chrono::minutes(5);
  return options;
}

}  // namespace webhook
