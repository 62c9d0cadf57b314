// The advice of quotas that somebody else enforces.

#include <algorithm>
#include <utility>

#include "pkg/admission/answers.h"
#include "pkg/admission/quota_admitter.h"
#include "pkg/quota/usage/usage_definition.h"

namespace admission {
namespace {

// No request waits longer for the read of a quota.
constexpr std::chrono::milliseconds kReadsFor{250};

// Whoever enforces them does not know the names of UsageDefinitions.
bool HasDefined(const quota::ResourceList& limits) {
  return std::ranges::any_of(
      limits, [](const auto& limit) { return quota::usage::IsDefinable(limit.first); });
}

quota::Quota WithoutDefined(quota::Quota quota) {
  for (quota::ResourceList* limits : {&quota.hard, &quota.status.hard}) {
    limits->EraseIf([](const auto& limit) { return quota::usage::IsDefinable(limit.first); });
  }
  return quota;
}

// The refusal of a request that exceeds this quota, by the quota's status alone.
std::optional<quota::Verdict> RefusalBy(const quota::Quota& quota, const quota::Request& request) {
  if (HasDefined(quota.status.hard)) return RefusalBy(WithoutDefined(quota), request);
  quota::Verdict verdict = quota::Decide(request, {{.quota = &quota, .used = quota.status.used}});
  const bool exceeded = verdict.refuser && !verdict.refuser->exceeded.empty();
  if (!exceeded) return std::nullopt;
  return verdict;
}

}  // namespace

// The quota is read live, because the watch may not have shown yet that there is room again.
base::Task<std::optional<Answer>> QuotaAdmitter::AdviceOf(QuotaSource& source,
                                                          std::shared_ptr<const Pending> pending) {
  const std::unique_ptr<Ask> ask = Ask::Of(source, pending->review);
  if (ask == nullptr) co_return std::nullopt;
  const auto read = ask->Read(scheduler_.WallNow(), nullptr);
  if (!read || !ask->flaw().empty()) co_return std::nullopt;
  ask->LookAgain();
  const std::vector<const quota::Quota*> quotas = ask->Quotas();
  const auto refuses = [&](const auto* one) { return RefusalBy(*one, ask->request()).has_value(); };
  const auto full = std::ranges::find_if(quotas, refuses);
  if (full == quotas.end()) co_return std::nullopt;
  const std::string uid = (*full)->uid;
  const base::TimePoint until =
      std::min<base::TimePoint>(pending->deadline, scheduler_.Now() + kReadsFor);
  quota::Quota exceeded = **full;
  const auto stored = co_await source.book->Read(std::move(exceeded), until);
  if (!stored || stored->uid != uid) co_return std::nullopt;
  ask->LookAgain();
  const auto refusal = RefusalBy(*stored, ask->request());
  if (!refusal) co_return std::nullopt;
  co_return AnswerOf(source.api, *refusal, {});
}

}  // namespace admission
