#include "controllers/quota/recount_planner.h"

#include <algorithm>
#include <utility>

#include "pkg/quota/cluster/cluster_status.h"

namespace controllers {

using accounting::Standing;

Recount RecountPlanner::Plan(const quota::Quota& quota, Account& account, const QuotaCount& count,
                             const QuotaView& view, bool takes_back) const {
  Standing next{quota.status.used, account.known()};
  account.questions.Drop(next.list);
  Recount recount;
  if (takes_back) recount.withdrawals = account.own.TakeBack(next);
  accounting::Settle(next.list, view);
  recount.over = account.list && next.list.entries() != account.list->entries();
  quota::ResourceList held = account.strangers.Held();
  held.Add(accounting::Outstanding(next.list, view));
  const auto guarded = parts_.options.guarded ? std::optional(Guarded(quota)) : std::nullopt;
  quota::QuotaStatus desired =
      quota::DesiredStatus(guarded ? *guarded : quota, count.observed, held);
  const bool recorded = !account.list || account.list->used == desired.used;
  const bool plausible = !takes_back && quota.garbage.why.empty() &&
                         desired.hard == quota.status.hard &&
                         account.IsPlausible(quota.status.used, desired.used);
  recount.differs = !plausible && (quota::NeedsWrite(quota, desired) || !recorded);
  if (!quota.reservations.empty()) accounting::RaiseFloor(next.list, view.floor_resources(), view);
  next.list.strangers = account.strangers.Held();
  next.used = std::move(desired.used);
  recount.write = {.quota = {}, .hard = std::move(desired.hard), .standing = std::move(next)};
  if (cluster_ != nullptr) AddFurther(quota, account, count, recount);
  return recount;
}

void RecountPlanner::AddFurther(const quota::Quota& quota, Account& account,
                                const QuotaCount& count, Recount& recount) const {
  const quota::QuotaStatus desired{recount.write.hard, recount.write.standing.used};
  const base::TimePoint now = parts_.Now();
  recount.write.further = cluster_->Of(quota, desired, count.observed.unknown,
                                       {.now = now, .wall = parts_.context.scheduler->WallNow()},
                                       account.missing_since);
  const json::Object& further = recount.write.further;
  if (recount.differs) return;
  if (!quota::FurtherDifference(quota.further_status, further).empty()) {
    recount.differs =
        account.further_due <= now || ClusterStatus::IsUrgent(quota.further_status, further);
    if (!recount.differs) recount.waits_until = account.further_due;
  }
  if (!account.missing_since) return;
  const base::TimePoint lasts = *account.missing_since + ClusterStatus::kLasts;
  if (lasts > now) recount.waits_until = std::min(recount.waits_until, lasts);
}

// A name that admission does not guard yet stays out of status.hard: a name in status.hard is
// enforced.
quota::Quota RecountPlanner::Guarded(const quota::Quota& quota) const {
  quota::Quota guarded = quota;
  for (const UsageSource& source : parts_.tracker.SourcesOf(quota.hard)) {
    // A name whose kind is not served stays out as well. Objects that count under other names must
    // not wait for it.
    const bool countable = source.tracked != nullptr || !source.evaluator->classes ||
                           !source.evaluator->classes->usage_of_kind;
    if (countable && parts_.options.guarded(*source.evaluator, quota.key.ns)) continue;
    for (const std::string& name : source.names) {
      if (quota.status.hard.Find(name) == nullptr) guarded.hard.Erase(name);
    }
  }
  return guarded;
}

}  // namespace controllers
