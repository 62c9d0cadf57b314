#include "controllers/quota/recount_planner.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "controllers/quota/events/uncounted.h"
#include "pkg/quota/cluster_status.h"

namespace controllers {

using accounting::Standing;

namespace {

// A recount leaves at least what open entries allow beyond what is observed, under each name that
// is known. Objects may use less than nothing.
void CheckCovers(const quota::ResourceList& used, const quota::ResourceList& open,
                 const quota::Observed& observed) {
  for (const auto& [name, amount] : open) {
    const quota::Quantity* const counted = observed.used.Find(name);
    const quota::Quantity* const left = used.Find(name);
    const bool known = counted != nullptr && left != nullptr && counted->Sign() >= 0 &&
                       std::ranges::find(observed.unknown, name) == observed.unknown.end();
    CHECK(!known || *left >= amount) << "used " << name << "=" << left->ToString()
                                     << " is less than open entries allow: " << amount.ToString();
  }
}

}  // namespace

Recount RecountPlanner::Plan(const quota::Quota& quota, Account& account, const QuotaCount& count,
                             const QuotaView& view, bool takes_back, bool may_write) const {
  Standing next{quota.status.used, account.known()};
  account.questions.Drop(next.list);
  Recount recount;
  if (takes_back) recount.draft.taken_back = account.own.TakeBack(next);
  accounting::Settle(next.list, view);
  recount.over = account.list && next.list.entries() != account.list->entries();
  const quota::ResourceList open = accounting::Outstanding(next.list, view);
  quota::ResourceList held = account.external.Held();
  held.Add(open);
  const Pending pending = PendingNames(quota);
  const auto in_force =
      parts_.options.guarded ? std::optional(InForce(quota, pending)) : std::nullopt;
  quota::QuotaStatus desired =
      quota::DesiredStatus(in_force ? *in_force : quota, count.observed, held);
  HoldOut(quota, desired);
  CheckCovers(desired.used, open, count.observed);
  const bool recorded = !account.list || account.list->used == desired.used;
  const bool plausible = !takes_back && quota.garbage.why.empty() &&
                         desired.hard == quota.status.hard &&
                         account.IsPlausible(quota.status.used, desired.used);
  recount.differs = !plausible && (quota::NeedsWrite(quota, desired) || !recorded);
  if (!quota.reservations.empty()) accounting::RaiseFloor(next.list, view.floor_resources(), view);
  next.list.external = account.external.Held();
  recount.draft.status = std::move(desired);
  recount.draft.list = std::move(next.list);
  recount.draft.recounts = true;
  const bool postponed = recount.differs && !may_write;
  if (cluster_ != nullptr && !postponed)
    AddFurther(quota, account, count, pending.unguarded, recount);
  return recount;
}

void RecountPlanner::AddFurther(const quota::Quota& quota, Account& account,
                                const QuotaCount& count, const std::vector<std::string>& unguarded,
                                Recount& recount) const {
  const base::TimePoint now = parts_.Now();
  recount.draft.further = cluster_->Of(
      quota, recount.draft.status, count.observed.unknown, unguarded,
      {.now = now, .wall = parts_.context.scheduler->WallNow()}, account.missing_since);
  const json::Object& further = recount.draft.further;
  if (recount.differs) return;
  if (!quota::FurtherDifference(quota.further_status, further).empty()) {
    recount.differs = account.further_due <= now || ClusterStatus::IsUrgent(quota, further);
    if (!recount.differs) recount.waits_until = account.further_due;
  }
  if (!account.missing_since) return;
  const base::TimePoint lasts = *account.missing_since + ClusterStatus::kLasts;
  if (lasts > now) recount.waits_until = std::min(recount.waits_until, lasts);
}

// A name that can never be counted as things are would refuse everything. An unreadable name stays:
// its object is there to be repaired, and it refuses until then.
void RecountPlanner::HoldOut(const quota::Quota& quota, quota::QuotaStatus& desired) const {
  if (desired.used.size() == desired.hard.size()) return;  // all are counted
  for (const UsageSource& source : parts_.tracker.SourcesOf(quota.hard)) {
    for (const std::string& name : HeldOut(source, desired.used)) {
      const bool unreadable = std::ranges::binary_search(quota.unreadable.names, name);
      if (!unreadable) desired.hard.Erase(name);
    }
  }
}

RecountPlanner::Pending RecountPlanner::PendingNames(const quota::Quota& quota) const {
  Pending pending;
  if (!parts_.options.guarded) return pending;
  const auto add = [](std::vector<std::string>& names, const UsageSource& source) {
    names.insert(names.end(), source.names.begin(), source.names.end());
  };
  for (const UsageSource& source : parts_.tracker.SourcesOf(quota.hard)) {
    // A name whose kind is not served stays out as well. Objects that count under other names must
    // not wait for it.
    const bool countable = source.tracked != nullptr || !source.evaluator->classes ||
                           !source.evaluator->classes->usage_of_kind;
    if (!countable) {
      add(pending.not_served, source);
    } else if (!parts_.options.guarded(*source.evaluator, quota.key)) {
      add(pending.unguarded, source);
    }
  }
  return pending;
}

// A name in status.hard is enforced. One that was enforced stays: rules that are still to be stored
// for further namespaces must not end the limit in the others.
quota::Quota RecountPlanner::InForce(const quota::Quota& quota, const Pending& pending) {
  quota::Quota in_force = quota;
  for (const auto* names : {&pending.not_served, &pending.unguarded}) {
    for (const std::string& name : *names) {
      if (quota.status.hard.Find(name) == nullptr) in_force.hard.Erase(name);
    }
  }
  return in_force;
}

}  // namespace controllers
