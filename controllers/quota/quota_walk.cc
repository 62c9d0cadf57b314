#include "controllers/quota/quota_walk.h"

namespace controllers {
namespace {

// Quotas that a walk visits in one turn of the event loop: some hundred microseconds.
constexpr std::size_t kQuotasAStep = 64;
// Children that are enqueued in one turn of the event loop.
constexpr int kChildrenAStep = 64;

}  // namespace

QuotaWalk::Changes& QuotaWalk::Pending() {
  wake_->Wake();
  if (!pending_) pending_ = Changes{};
  return *pending_;
}

void QuotaWalk::OnResourceState(const quota::Evaluator& evaluator) {
  Pending().states.insert_or_assign({evaluator.resource, evaluator.revision}, evaluator);
}

void QuotaWalk::OnClassState(const quota::Evaluator& evaluator) {
  Pending().class_states.insert_or_assign({evaluator.resource, evaluator.revision}, evaluator);
}

void QuotaWalk::OnClassChange(const quota::Evaluator& evaluator, const std::string& name) {
  auto& classes = Pending().classes;
  const Key key{evaluator.resource, evaluator.revision};
  classes.try_emplace(key, Classes{evaluator, {}}).first->second.names.insert(name);
}

void QuotaWalk::OnParent(const std::string& parent) {
  const quota::Quota* const quota = quotas_.store().Find({"", parent});
  const auto* const place = reach_->tree().Place(parent);
  if (quota == nullptr || place == nullptr || place->below.empty()) return;
  if (scheduler_.Now() < quotas_.accounts().Of(*quota).children_told) return;
  const auto telling = telling_.try_emplace(parent).first;
  if (Tell(*telling)) {
    wake_->Wake();
  } else {
    telling_.erase(telling);
  }
}

bool QuotaWalk::Tell(Telling::value_type& telling) {
  auto& [parent, last] = telling;
  const quota::Quota* const quota = quotas_.store().Find({"", parent});
  const auto* const place = reach_->tree().Place(parent);
  if (quota == nullptr || place == nullptr) return false;
  const quota::Lineage::Member after{last};
  auto child = place->below.upper_bound(&after);
  base::Duration period{};
  for (int i = 0; i < kChildrenAStep && child != place->below.end(); ++i, ++child) {
    last = (*child)->name;
    const quota::Quota* const known = quotas_.store().Find({"", last});
    if (known == nullptr) continue;
    period = status_->PeriodOf(*known);
    queue_.AddAfter({"", last}, period);
  }
  const bool more = child != place->below.end();
  // While children are left, nothing begins anew.
  quotas_.accounts().Of(*quota).children_told =
      more ? base::TimePoint::max() : scheduler_.Now() + period;
  return more;
}

base::Task<void> QuotaWalk::Run() {
  co_await base::DeferCancellation();
  while (!co_await base::Stopping()) {
    if (!telling_.empty()) {
      if (!Tell(*telling_.begin())) telling_.erase(telling_.begin());
      co_await base::NextTurn();
      continue;
    }
    if (!pending_) {
      co_await wake_->WaitUntil(base::TimePoint::max());
      continue;
    }
    const Changes changes = *std::exchange(pending_, std::nullopt);
    QuotaStore::Place place;
    for (bool more = true; more;) {
      more = quotas_.store().VisitSome(place, kQuotasAStep,
                                       [&](const quota::Quota& quota) { Visit(quota, changes); });
      co_await base::NextTurn();
      if (co_await base::Stopping()) co_return;
    }
  }
}

void QuotaWalk::Visit(const quota::Quota& quota, const Changes& changes) {
  bool report = changes.report_all;
  for (const auto& [key, evaluator] : changes.states) {
    report = report || tracker_.OwnsAny(evaluator, quota.hard);
  }
  for (const auto& [key, evaluator] : changes.class_states) {
    report = report || !quota::NamesOfClasses(evaluator, quota.hard).empty();
  }
  bool recount = changes.recount_all || report;
  for (const auto& [key, changed] : changes.classes) {
    // Skip quotas whose objects do not refer to the class: their usage does not depend on it.
    const TrackedResource* tracked = tracker_.Find(changed.evaluator.resource);
    const bool named = !quota::NamesOfClasses(changed.evaluator, quota.hard).empty();
    const bool refers = tracked != nullptr && named &&
                        tracked->ledger().RefersToAny(quota::SpaceOf(quota.key), changed.names);
    recount = recount || refers;
  }
  if (report) reporter_.LookSoon(quota.key);
  if (recount) queue_.Add(quota.key);
}

}  // namespace controllers
