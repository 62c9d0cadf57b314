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

AccessReviewer::AccessReviewer(ApiClient& client, const base::Clock& clock,
                               AccessReviewerOptions options)
    : client_(client), clock_(clock), options_(options) {}

base::Task<Result<void>> AccessReviewer::MayGet(std::string token, std::string path) {
  if (token.empty()) co_return Refusal(ErrorCode::kUnauthorized, "no bearer token");
  const std::string key = http::Sha256(token) + path;
  const auto known = remembered_.find(key);
  if (known != remembered_.end() && clock_.Now() < known->second.until) {
    co_return known->second.verdict;
  }
  if (under_way_ >= options_.max_under_way) {
    co_return Refusal(ErrorCode::kTooManyRequests, "too many access reviews are in progress");
  }
  // A client that disconnects cancels this coroutine, which also ends the count.
  const UnderWay counted(under_way_);
  const Result<void> verdict = co_await Review(std::move(token), std::move(path));
  // Only decisions are cached: after a failure the next request asks again.
  if (IsVerdict(verdict)) Remember(key, verdict);
  co_return verdict;
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
  SayTrouble("");
  if (IsTrue(*may, {"status", "allowed"})) co_return Result<void>();
  std::string message = "user \"";
  message.append(user->StringAt({"username"})).append("\" may not get ").append(path);
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
  SayTrouble(answer.error().message);
  co_return Refusal(ErrorCode::kUnavailable, "the API server could not review access to this");
}

void AccessReviewer::Remember(const std::string& key, const Result<void>& verdict) {
  const base::TimePoint now = clock_.Now();
  std::erase_if(remembered_, [&](const auto& entry) { return entry.second.until <= now; });
  // Evict the entry that expires first. Refusals expire soon, so requests of strangers mostly evict
  // each other.
  if (remembered_.size() >= options_.max_remembered && !remembered_.contains(key)) {
    remembered_.erase(std::ranges::min_element(
        remembered_, {}, [](const auto& entry) { return entry.second.until; }));
  }
  const base::Duration life = verdict ? options_.remember_allowed : options_.remember_refused;
  remembered_.insert_or_assign(key, Remembered{verdict, now + life});
}

void AccessReviewer::SayTrouble(const std::string& trouble) {
  if (std::exchange(trouble_, trouble) == trouble) return;
  if (trouble.empty()) {
    LOG(INFO) << "access to metrics can be reviewed again";
  } else {
    LOG(WARNING) << "access to metrics cannot be reviewed error=" << json::Quote(trouble);
  }
}

}  // namespace client
