// The advice of quotas that somebody else enforces.

#include <algorithm>
#include <utility>

#include "pkg/admission/answers.h"
#include "pkg/admission/quota_admitter.h"
#include "pkg/admission/waiter.h"

namespace admission {
namespace {

// No request waits longer for the read of a quota.
constexpr std::chrono::milliseconds kReadsFor{250};

// The refusal of a request that exceeds this quota, by the quota's status alone.
std::optional<quota::Verdict> RefusalBy(const quota::Quota& quota, const quota::Request& request) {
  quota::Verdict verdict = quota::Decide(request, {{.quota = &quota, .used = quota.status.used}});
  const bool exceeded = verdict.refuser && !verdict.refuser->exceeded.empty();
  if (!exceeded) return std::nullopt;
  return verdict;
}

}  // namespace

// The quota is read live, because the watch may not have shown yet that there is room again.
base::Task<std::optional<Answer>> QuotaAdmitter::Advise(Review review, base::TimePoint deadline) {
  if (!MayLimit(review) || !KnowsQuotas(review.ns)) co_return std::nullopt;
  const std::shared_ptr<Waiter> waiter = Take(std::move(review), deadline);
  if (waiter == nullptr || LacksOldObject(waiter->review)) co_return std::nullopt;
  const auto prepared = Prepare(*waiter);
  if (!prepared || !waiter->flaw.empty()) co_return std::nullopt;
  std::optional<quota::Quota> full;
  for (const quota::Quota* quota : QuotasIn(waiter->review.ns)) {
    if (!full && RefusalBy(*quota, waiter->request)) full = *quota;
  }
  if (!full) co_return std::nullopt;
  const std::string uid = full->uid;
  const base::TimePoint until = std::min<base::TimePoint>(deadline, scheduler_.Now() + kReadsFor);
  const auto stored = co_await book_.Read(*std::move(full), until);
  if (!stored || stored->uid != uid) co_return std::nullopt;
  LookAgain(*waiter);
  const auto refusal = RefusalBy(*stored, waiter->request);
  if (!refusal) co_return std::nullopt;
  co_return AnswerOf(api_, *refusal, {});
}

}  // namespace admission
