#include "pkg/client/access_reviewer.h"

#include <glog/logging.h>

#include <algorithm>

#include "pkg/api/resource.h"
#include "pkg/http/digest.h"
#include "pkg/json/value.h"

namespace client {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;

const api::GroupVersionResource kTokenReviews{"authentication.k8s.io", "v1", "tokenreviews"};
const api::GroupVersionResource kAccessReviews{"authorization.k8s.io", "v1",
                                               "subjectaccessreviews"};

Error Refusal(ErrorCode code, std::string message) {
  return {.code = code, .message = std::move(message)};
}

json::Value TokenReview(const std::string& token) {
  json::Value review =
      json::Object{{"apiVersion", kTokenReviews.GroupVersion()}, {"kind", "TokenReview"}};
  review.Make({"spec", "token"}) = token;
  return review;
}

// `user` is from a TokenReview's status.
json::Value AccessReview(const json::Value& user, const std::string& path) {
  json::Value review =
      json::Object{{"apiVersion", kAccessReviews.GroupVersion()}, {"kind", "SubjectAccessReview"}};
  review.Make({"spec", "user"}) = std::string(user.StringAt({"username"}));
  for (const std::string_view member : {"uid", "groups", "extra"}) {
    const json::Value* value = user.At({member});
    if (value != nullptr) review.Make({"spec", member}) = *value;
  }
  review.Make({"spec", "nonResourceAttributes"}) = json::Object{{"path", path}, {"verb", "get"}};
  return review;
}

bool IsTrue(const json::Value& value, std::initializer_list<std::string_view> path) {
  const json::Value* found = value.At(path);
  return found != nullptr && found->AsBool() == std::optional(true);
}

class UnderWay {
 public:
  explicit UnderWay(std::size_t& count) : count_(count) { ++count_; }
  ~UnderWay() { --count_; }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

 private:
  std::size_t& count_;
};

bool IsVerdict(const Result<void>& verdict) {
  return verdict || verdict.error().Is(ErrorCode::kUnauthorized) ||
         verdict.error().Is(ErrorCode::kForbidden);
}

}  // namespace

AccessReviewer::AccessReviewer(ApiClient& client, base::Scheduler& scheduler,
                               AccessReviewerOptions options)
    : client_(client), scheduler_(scheduler), options_(options), renew_(scheduler.NewAlarm()) {}

base::Task<Result<void>> AccessReviewer::MayGet(std::string token, std::string path,
                                                std::string address) {
  if (token.empty()) co_return Refusal(ErrorCode::kUnauthorized, "no bearer token");
  const base::TimePoint now = scheduler_.Now();
  const std::string key = http::Sha256(token) + path;
  const Remembered* const answer = Find(key);
  if (answer != nullptr && now < answer->fresh_until) {
    const Result<void> verdict = answer->verdict;
    if (verdict && now >= answer->renew_at) RenewSoon(key, std::move(token), std::move(path));
    co_return verdict;
  }
  const bool known = answer != nullptr && answer->verdict;
  const auto failed = failed_.find(key);
  if (known && failed != failed_.end() && now < failed->second) {
    co_return Refusal(ErrorCode::kUnavailable, "the API server could not review access to this");
  }
  std::size_t& under_way = known ? known_under_way_ : under_way_;
  if (under_way >= (known ? options_.max_known_under_way : options_.max_under_way)) {
    co_return Refusal(ErrorCode::kTooManyRequests, "too many access reviews are in progress");
  }
  if (!known && !budget_.Take(now, address)) {
    co_return Refusal(ErrorCode::kTooManyRequests, "too many unknown tokens were sent");
  }
  // A client that disconnects cancels this coroutine, which also ends the count.
  const UnderWay counted(under_way);
  const Result<void> verdict = co_await Review(std::move(token), std::move(path));
  Remember(key, verdict);
  co_return verdict;
}

base::Task<void> AccessReviewer::Run() {
  co_await base::DeferCancellation();
  while (!co_await base::Stopping()) {
    if (renewals_.empty()) {
      co_await renew_->WaitUntil(base::TimePoint::max());
      continue;
    }
    Renewal renewal = std::move(renewals_.front());
    renewals_.pop_front();
    const Result<void> verdict = co_await Review(std::move(renewal.token), std::move(renewal.path));
    Remember(renewal.key, verdict);
  }
}

// nullptr if there is no answer that still means something.
const AccessReviewer::Remembered* AccessReviewer::Find(const std::string& key) const {
  const auto found = remembered_.find(key);
  if (found == remembered_.end() || scheduler_.Now() >= found->second.known_until) return nullptr;
  return &found->second;
}

// The token is kept only until Run() has sent it.
void AccessReviewer::RenewSoon(const std::string& key, std::string token, std::string path) {
  if (renewals_.size() >= options_.max_known_under_way) return;
  remembered_.at(key).renew_at = base::TimePoint::max();
  renewals_.push_back({key, std::move(token), std::move(path)});
  renew_->Wake();
}

base::Task<Result<void>> AccessReviewer::Review(std::string token, std::string path) {
  json::Value question = TokenReview(token);
  const auto who = co_await Post(kTokenReviews.resource, std::move(question));
  if (!who) co_return who.error();
  const json::Value* user = who->At({"status", "user"});
  if (!IsTrue(*who, {"status", "authenticated"}) || user == nullptr) {
    co_return Refusal(ErrorCode::kUnauthorized, "the API server does not know this token");
  }
  question = AccessReview(*user, path);
  const auto may = co_await Post(kAccessReviews.resource, std::move(question));
  if (!may) co_return may.error();
  LOG_IF(INFO, trouble_.Solve()) << "access to metrics can be reviewed again";
  if (IsTrue(*may, {"status", "allowed"})) co_return Result<void>();
  // The cache has a bound of entries, so an entry has one of bytes.
  constexpr std::size_t kMaxName = 256;
  std::string message = "user \"";
  message.append(user->StringAt({"username"}).substr(0, kMaxName));
  message.append("\" may not get ").append(path);
  co_return Refusal(ErrorCode::kForbidden, std::move(message));
}

// If the API server refuses our own request, that says nothing about the caller: kUnavailable.
base::Task<Result<json::Value>> AccessReviewer::Post(std::string kind, json::Value review) {
  const auto& resource = kind == kTokenReviews.resource ? kTokenReviews : kAccessReviews;
  ApiRequest request;
  request.verb = "POST";
  request.path = resource.Path({});
  request.content_type = kJson;
  request.body = json::Write(review);
  request.timeout = options_.timeout;
  auto answer = co_await DoJson(client_, std::move(request));
  if (answer || answer.error().Is(ErrorCode::kCancelled)) co_return answer;
  LOG_IF(WARNING, trouble_.Meet(answer.error().message, scheduler_.Now()))
      << "access to metrics cannot be reviewed error=" << json::Quote(answer.error().message);
  co_return Refusal(ErrorCode::kUnavailable, "the API server could not review access to this");
}

// A failure says nothing about the token: what is known of it stays.
void AccessReviewer::Remember(const std::string& key, const Result<void>& verdict) {
  if (!verdict && verdict.error().Is(ErrorCode::kCancelled)) return;
  const base::TimePoint now = scheduler_.Now();
  const Remembered* const before = Find(key);
  if (!IsVerdict(verdict) && before != nullptr && before->verdict) {
    std::erase_if(failed_, [&](const auto& entry) { return entry.second <= now; });
    failed_[key] = now + options_.remember_failed;
    remembered_.at(key).renew_at = now + options_.remember_refused;
    return;
  }
  if (verdict) {
    return Keep(key, {.verdict = verdict,
                      .fresh_until = now + options_.remember_allowed,
                      .known_until = now + options_.know_allowed,
                      .renew_at = now + options_.remember_allowed / 2});
  }
  const base::TimePoint until =
      now + (IsVerdict(verdict) ? options_.remember_refused : options_.remember_failed);
  Keep(key, {.verdict = verdict, .fresh_until = until, .known_until = until, .renew_at = until});
}

// If there are too many, the one that ends first goes, which may be the new one. So strangers never
// evict a known token.
void AccessReviewer::Keep(const std::string& key, Remembered answer) {
  const base::TimePoint now = scheduler_.Now();
  std::erase_if(remembered_, [&](const auto& entry) { return entry.second.known_until <= now; });
  remembered_.insert_or_assign(key, std::move(answer));
  if (remembered_.size() <= options_.max_remembered) return;
  remembered_.erase(std::ranges::min_element(
      remembered_, {}, [](const auto& entry) { return entry.second.known_until; }));
}

}  // namespace client
