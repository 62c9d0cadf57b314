#include "controllers/quota/quota_changes.h"

#include <glog/logging.h>

#include "controllers/usage/quota_view.h"
#include "pkg/quota/guarantee.h"

namespace controllers {
namespace {

// An object that appears, or grows, under its own reservation seldom changes `used`: the amount
// moves from reserved to observed. So one recount serves all such events of this time.
constexpr base::Duration kGathers = std::chrono::milliseconds(20);

// Quotas that a walk visits in one turn of the event loop: some hundred microseconds.
constexpr std::size_t kQuotasAStep = 64;
// Children that are enqueued in one turn of the event loop.
constexpr int kChildrenAStep = 64;

}  // namespace

void QuotaChanges::OnQuota(const quota::Quota* before, const quota::Quota* after) {
  tracker_.OnQuota(before, after);
  if (cluster_) cluster_->reach.OnQuota(before, after);
  if (listener_ != nullptr) listener_->OnClusterQuota(before, after);
  if (options_.on_quota) options_.on_quota(after != nullptr ? after->key : before->key);
  const bool renamed = before == nullptr || after == nullptr || before->hard != after->hard;
  // The namespaces that it limits, or that those above it limit, may be others.
  const bool elsewhere = !renamed && before->cluster && after->cluster &&
                         (before->cluster->selector != after->cluster->selector ||
                          before->cluster->parent != after->cluster->parent);
  if (renamed || elsewhere) NoticeConstraints();
  reporter_.OnQuota(before, after);
  if (after == nullptr) {
    if (cluster_) cluster_->largest.Forget(before->key);
    quotas_.accounts().Forget(before->key);
    quotas_.log().Forget(before->key.ToString());
    return;
  }
  Account& account = quotas_.accounts().Of(*after);
  const auto counted = [&] { return QuotaView(usage_, *after).Counted(account.known()); };
  const bool ours = account.OnQuota(scheduler_.Now(), before, *after,
                                    before == nullptr || !quotas_.store().in_order(), counted);
  quotas_.log().Set("list of", after->key.ToString(), account.list.rejected());
  quotas_.log().Set("stored status of", after->key.ToString(), after->garbage.why);
  if (cluster_ && (before == nullptr || before->status != after->status)) {
    cluster_->largest.OnUsed(after->key);
    OnParent(after->key.name);
  }
  if (cluster_) {
    const quota::Quota& decisive = account.Decisive(*after);
    // What is reserved for expected creations is not in `used` of the parent yet.
    quota::ResourceList taken = decisive.status.used;
    quota::Lower(taken, account.known().Unassigned());
    cluster_->reach.SetPromised(after->key.name, quota::Promised(decisive, taken));
  }
  const bool respecified = renamed || before->selector != after->selector ||
                           before->unreadable.why != after->unreadable.why;
  if (!ours || respecified) return queue_.Add(after->key);
  // Our own write needs no recount, but its reservations are checked when their hold ends.
  queue_.AddAfter(after->key, quotas_.accounts().hold);
}

void QuotaChanges::NoticeConstraints() {
  if (quotas_.store().synced() && options_.on_constrained) options_.on_constrained();
}

void QuotaChanges::OnQuotasSynced() {
  if (cluster_) cluster_->reach.OnQuotasSynced();
  NoticeConstraints();
  LOG(INFO) << "quotas listed quota_api=" << quotas_.api().name
            << " quotas=" << quotas_.store().size();
}

void QuotaChanges::OnUsageChange(const quota::Evaluator& evaluator,
                                 const quota::LedgerChange& change) {
  for (const api::ObjectKey& key : reach().QuotasOf(change.ns)) {
    const quota::Quota* quota = quotas_.store().Find(key);
    CHECK(quota != nullptr) << key.ToString() << " reaches a namespace and is not stored";
    if (!tracker_.OwnsAny(evaluator, quota->hard)) continue;
    const auto matches = [&](const std::shared_ptr<const quota::Facts>& facts) {
      return facts && quota::MatchesObject(quota->selector, *facts, evaluator.scopes);
    };
    const bool matched = matches(change.before);
    const bool match = matches(change.after);
    // Null facts may also mean that the object became unreadable or readable again.
    if (!matched && !match && change.before && change.after) continue;
    if (listener_ != nullptr) listener_->OnUsageIn(change.ns);
    Account& account = quotas_.accounts().Of(*quota);
    if (match && account.known().Names(change.uid)) {
      queue_.AddAfter(key, kGathers);
      continue;
    }
    queue_.Add(key);
    if (!match || !account.AwaitsGrowth()) continue;
    const auto usage = [&](const std::shared_ptr<const quota::Facts>& facts) {
      return facts ? usage_.UsageOf(*quota, evaluator, change.ns, change.uid, *facts)
                   : quota::ResourceList();
    };
    account.OnAppeared(scheduler_.Now(),
                       {.resource = evaluator.resource.ToString(),
                        .uid = change.uid,
                        .version = std::string(change.version),
                        .usage = quota::Excess(usage(change.after), usage(change.before)),
                        .is_new = !change.before});
  }
}

void QuotaChanges::ChangeEvaluator(const api::GroupResource& resource,
                                   const std::function<void()>& change) {
  const auto before = quotas_.api().evaluators.Find(resource);
  change();
  const auto after = quotas_.api().evaluators.Find(resource);
  if (before == after) return;
  std::vector<const quota::Quota*> quotas;
  quotas.reserve(quotas_.store().size());
  QuotaStore::Place place;
  (void)quotas_.store().VisitSome(place, quotas_.store().size(),
                                  [&](const quota::Quota& quota) { quotas.push_back(&quota); });
  const auto limiting = tracker_.OnEvaluator(before, after, quotas);
  for (const quota::Quota* quota : limiting) {
    if (cluster_) cluster_->reach.OnEvaluator(*quota);
    reporter_.LookSoon(quota->key);
    queue_.Add(quota->key);
  }
  NoticeConstraints();
}

// An event may end the entry of the object, even if its usage did not change.
void QuotaChanges::OnShown(std::string_view ns, const quota::Uid& uid) {
  for (const api::ObjectKey& key : reach().QuotasOf(ns)) {
    const Account* account = quotas_.accounts().Find(key);
    if (account != nullptr && account->known().Names(uid)) queue_.AddAfter(key, kGathers);
  }
}

void QuotaChanges::OnResourceStates(const Evaluators& evaluators) {
  tracker_.OnResourceStates();
  NoticeConstraints();
  reporter_.OnResourceState();
  Changes& changes = Pending();
  for (const quota::Evaluator* const evaluator : evaluators) {
    changes.states.insert(evaluator->resource);
  }
}

void QuotaChanges::OnClassChange(const quota::Evaluator& evaluator, const std::string& name) {
  tracker_.OnClasses();
  // Until objects are counted, no quota depends on the class.
  if (tracker_.Find(evaluator.resource) == nullptr) return;
  const Key key{evaluator.resource, evaluator.revision};
  auto& classes = Pending().classes;
  classes.try_emplace(key, Classes{evaluator, {}}).first->second.names.insert(name);
}

void QuotaChanges::OnClassState(const quota::Evaluator& evaluator) {
  tracker_.OnClasses();
  tracker_.OnResourceStates();
  reporter_.OnResourceState();
  Pending().class_states.insert_or_assign({evaluator.resource, evaluator.revision}, evaluator);
}

ClusterReach::Hooks QuotaChanges::ReachHooks() {
  ClusterReach::Hooks hooks;
  hooks.set_groups = [this](const std::string& ns, std::vector<std::string> groups) {
    tracker_.SetGroups(ns, std::move(groups));
    if (listener_ != nullptr) listener_->OnReachOf(ns);
  };
  hooks.on_moved = [this](const api::ObjectKey& key) { queue_.Add(key); };
  hooks.on_promises = [this](const std::string& quota) { OnParent(quota); };
  hooks.on_state = [this] {
    reporter_.OnResourceState();
    ReportAll();
  };
  if (options_.guarded) {
    hooks.limited_by = [this](const quota::ResourceList& hard) {
      return tracker_.limits().LimitedBy(hard);
    };
  }
  return hooks;
}

QuotaChanges::Changes& QuotaChanges::Pending() {
  wake_->Wake();
  if (!pending_) pending_ = Changes{};
  return *pending_;
}

void QuotaChanges::OnParent(const std::string& parent) {
  const quota::Quota* const quota = quotas_.store().Find({"", parent});
  const auto* const place = cluster_->reach.tree().Place(parent);
  if (quota == nullptr || place == nullptr || place->below.empty()) return;
  if (scheduler_.Now() < quotas_.accounts().Of(*quota).cluster.children_told) return;
  const auto telling = telling_.try_emplace(parent).first;
  if (Tell(*telling)) {
    wake_->Wake();
  } else {
    telling_.erase(telling);
  }
}

bool QuotaChanges::Tell(Telling::value_type& telling) {
  auto& [parent, last] = telling;
  const quota::Quota* const quota = quotas_.store().Find({"", parent});
  const auto* const place = cluster_->reach.tree().Place(parent);
  if (quota == nullptr || place == nullptr) return false;
  const quota::Lineage::Member after{last};
  auto child = place->below.upper_bound(&after);
  base::Duration period{};
  for (int i = 0; i < kChildrenAStep && child != place->below.end(); ++i, ++child) {
    last = (*child)->name;
    const quota::Quota* const known = quotas_.store().Find({"", last});
    if (known == nullptr) continue;
    period = cluster_->status.PeriodOf(*known);
    queue_.AddAfter({"", last}, period);
  }
  const bool more = child != place->below.end();
  // While children are left, nothing begins anew.
  quotas_.accounts().Of(*quota).cluster.children_told =
      more ? base::TimePoint::max() : scheduler_.Now() + period;
  return more;
}

base::Task<void> QuotaChanges::Run() {
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

void QuotaChanges::Visit(const quota::Quota& quota, const Changes& changes) {
  bool report = changes.report_all || tracker_.CountsAny(quota.hard, changes.states);
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
