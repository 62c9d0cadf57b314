#pragma once

// The answers to reviews: what they say, and how they are written. Each refusal has its causes, for
// programs (pkg/quota/cause.h). Pure functions; any thread.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/admission/review.h"
#include "pkg/api/status.h"
#include "pkg/base/error.h"
#include "pkg/quota/decision.h"

namespace admission {

// A quota in mode Warn or Audit that would have refused the request.
struct TriedQuota {
  std::string quota_api;
  quota::WouldRefuse would;
};

// The decision about a review.
struct Answer {
  enum class Kind {
    kAllowed,
    kRefused,      // an answered review with allowed=false
    kBusy,         // HTTP 429 and Retry-After: the API server's client repeats the call by itself
    kUnavailable,  // HTTP 503: the review could not be decided in time
  };
  Kind kind = Kind::kAllowed;
  int code = 403;                              // kRefused: status.code
  std::string reason;                          // kRefused: status.reason, "Forbidden"
  std::string message;                         // why; "" when allowed
  std::vector<api::StatusCause> causes = {};   // kRefused: why, for programs (README.md)
  std::vector<std::string> warnings;           // shown by kubectl; each is cut at 256 characters
  std::optional<quota::Refuser> refuser = {};  // kRefused: the quota that refused, if any
  std::string quota_api = {};                  // of the refuser
  bool refused_by_cluster_quota = false;       // then the quota has no namespace
  std::vector<TriedQuota> would_refuse = {};   // kAllowed
  std::chrono::seconds retry_after{1};         // kBusy
};

// What the API server would answer when it stores.
Answer AlreadyExists(const Review& review);
// A refusal by no quota. `reason`: one of quota::cause::kAll.
Answer Refuse(int code, std::string message, std::string_view reason);
Answer Unavailable(std::string message);
// The answer after a write that failed permanently. It has the API server's own text.
Answer Failed(const base::Error& error);
Answer AnswerOf(const quota::QuotaApi& api, const quota::Verdict& verdict,
                std::vector<std::string> warnings);
// Adds what another quota API says about a request that both allow.
void AddTo(Answer& all, Answer one);

// The body of an answered review (kAllowed or kRefused), with the review's uid. As in the API
// server's own refusals, the details contain the resource and the name; they also contain the
// causes. With code 403 the message begins with `pods "p" is forbidden: `. If a quota refused,
// audit annotations name the quota and its exceeded limits; the API server prefixes them with the
// webhook's name. Quotas in mode Warn or Audit that would have refused are annotated, too; those in
// mode Warn also add a warning.
std::string FormatAnswer(const Review& review, const Answer& answer);

// The text for the user: `pods "p" is forbidden: exceeded quota: …`.
std::string RefusalMessage(const Review& review, const Answer& answer);
// The same for a request that was admitted: `pods "p" would be forbidden: exceeded cluster quota:
// …`.
std::string WouldRefuseMessage(const Review& review, const TriedQuota& tried);

}  // namespace admission
