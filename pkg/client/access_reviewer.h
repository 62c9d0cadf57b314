#pragma once

// Asks the API server whether the owner of a token may read one of our paths: a TokenReview
// identifies the user, and a SubjectAccessReview tells whether that user may `get` the non-resource
// URL.
//
// Guarantees: an allowed answer is cached for a minute, a refusal for ten seconds and a failure for
// two, so a revoked right ends within a minute. The cache is bounded and holds a digest, never a
// token. No error and no log line contains a token. Failing reviews are logged once.
//
// Strangers cannot cause more than a few reviews a second (stranger_budget.h), and only a few run
// at once. A token that was allowed within a day is no stranger's: it has places of its own, and is
// reviewed again by Run() when half of its minute is over, so its owner does not wait.
//
// Needs `create` on tokenreviews and subjectaccessreviews. Single-threaded. The client and the
// scheduler must outlive it, and it must outlive the tasks that it returns.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "pkg/base/asio.h"
#include "pkg/base/error.h"
#include "pkg/base/reminder.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"
#include "pkg/client/stranger_budget.h"
#include "pkg/json/value.h"

namespace client {

struct AccessReviewerOptions {
  base::Duration remember_allowed = std::chrono::minutes(1);
  base::Duration remember_refused = std::chrono::seconds(10);
  base::Duration remember_failed = std::chrono::seconds(2);
  base::Duration know_allowed = std::chrono::hours(24);
  std::size_t max_remembered = 256;
  std::size_t max_under_way = 8;             // for tokens that are not known
  std::size_t max_known_under_way = 4;       // for those that are
  std::chrono::milliseconds timeout{5'000};  // for each of the two reviews
};

class AccessReviewer {
 public:
  AccessReviewer(ApiClient& client, base::Scheduler& scheduler, AccessReviewerOptions options = {});

  // `address`: of the caller, without a port. Errors: kUnauthorized for an invalid token,
  // kForbidden for a user without the right, kTooManyRequests, kUnavailable if the API server does
  // not decide.
  base::Task<base::Result<void>> MayGet(std::string token, std::string path, std::string address);
  // Reviews known tokens again before their answers expire. Runs until cancelled.
  base::Task<void> Run();

 private:
  struct Remembered {
    base::Result<void> verdict;
    base::TimePoint fresh_until;  // until then it is the answer
    base::TimePoint known_until;  // until then an allowed token is known
    base::TimePoint renew_at;     // an allowed one, when it is used
  };
  struct Renewal {
    std::string key;
    std::string token;
    std::string path;
  };
  [[nodiscard]] const Remembered* Find(const std::string& key) const;
  void RenewSoon(const std::string& key, std::string token, std::string path);
  base::Task<base::Result<void>> Review(std::string token, std::string path);
  base::Task<base::Result<json::Value>> Post(std::string kind, json::Value review);
  void Remember(const std::string& key, const base::Result<void>& verdict);
  void Keep(const std::string& key, Remembered answer);

  ApiClient& client_;
  base::Scheduler& scheduler_;
  const AccessReviewerOptions options_;
  std::map<std::string, Remembered> remembered_;   // by digest and path
  std::map<std::string, base::TimePoint> failed_;  // known tokens: not reviewed before this
  std::deque<Renewal> renewals_;
  std::unique_ptr<base::Alarm> renew_;  // woken for renewals_
  StrangerBudget budget_;
  std::size_t under_way_ = 0;
  std::size_t known_under_way_ = 0;
  base::Reminder trouble_;  // of our own requests
};

}  // namespace client
