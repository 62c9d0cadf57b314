#include "controllers/quota/quota_controller.h"

#include <glog/logging.h>

#include "pkg/quota/guarantee.h"

namespace controllers {
namespace {

// An object that appears, or grows, under its own reservation seldom changes `used`: the amount
// moves from reserved to observed. So one recount serves all such events of this time.
constexpr base::Duration kGathers = std::chrono::milliseconds(20);

}  // namespace

QuotaController::QuotaController(TrackingContext context, const quota::QuotaApi& api,
                                 ServedResources& served, SharedResources& shared,
                                 ControllerObserver& observer,
                                 const QuotaControllerOptions& options,
                                 queue::Observer& queue_observer)
    : context_(std::move(context)),
      api_(api),
      options_(options),
      stalls_(context_.scheduler->Now()),
      observer_(observer),
      quotas_(context_, api_, options_, stalls_, *this,
              [this] {
                tracker_.Relist();
                if (cluster_) cluster_->reach.Relist();
              }),
      tracker_(context_, api_, served, shared, *this,
               options.guarded != nullptr && !api.form.cluster),
      usage_(*context_.scheduler, *context_.client, served, tracker_, stalls_),
      queue_(*context_.scheduler,
             {.retry = {.cap = std::chrono::seconds(60), .jitter = 0.2}, .seed = options.seed},
             queue_observer),
      enforcement_(NewEnforcement()),
      // ClusterQuotas have a condition that says so, and their events repeat it.
      reporter_(
          context_, api_, options_, quotas_.store(), tracker_,
          api.form.cluster ? nullptr : enforcement_.get(),
          [this] { return quotas_.trouble().has_value(); },
          [this](const api::ObjectKey& key) {
            if (cluster_) queue_.Add(key);
          }),
      cluster_(api.form.cluster ? std::make_unique<Cluster>(*this) : nullptr),
      own_namespace_(quotas_.store()),
      reach_(cluster_ ? static_cast<const Reach&>(cluster_->reach) : own_namespace_),
      walk_(*context_.scheduler, quotas_, tracker_, queue_, reporter_,
            cluster_ ? &cluster_->reach : nullptr, cluster_ ? &cluster_->status : nullptr),
      writer_(context_, quotas_, usage_, reporter_),
      reservations_(context_, options_, quotas_, usage_, reach_, writer_, observer_,
                    [this](const auto& key, base::Duration after) { queue_.AddAfter(key, after); }),
      recounter_(context_, options_, quotas_, tracker_, usage_, writer_, reporter_, observer_,
                 cluster_ ? &cluster_->status : nullptr),
      resync_(*context_.scheduler, tracker_, quotas_.log(), observer, options_,
              [this] { walk_.RecountAll(); }) {
  if (cluster_) usage_.SetLabels(&cluster_->reach);
}

QuotaController::Cluster::Cluster(QuotaController& of)
    : reach(of.context_, of.ReachHooks()),
      largest(*of.context_.scheduler, reach, of.quotas_.store(), of.usage_, of.queue_),
      status(reach, of.quotas_.store(), of.reporter_, largest, of.enforcement_.get(), of.options_) {
}

ClusterReach::Hooks QuotaController::ReachHooks() {
  ClusterReach::Hooks hooks;
  hooks.set_groups = [this](const std::string& ns, std::vector<std::string> groups) {
    tracker_.SetGroups(ns, std::move(groups));
    if (listener_ != nullptr) listener_->OnReachOf(ns);
  };
  hooks.on_moved = [this](const api::ObjectKey& key) { queue_.Add(key); };
  hooks.on_promises = [this](const std::string& quota) { walk_.OnParent(quota); };
  hooks.on_state = [this] {
    reporter_.OnResourceState();
    walk_.ReportAll();
  };
  if (options_.guarded) {
    hooks.limited_by = [this](const quota::ResourceList& hard) {
      return tracker_.limits().LimitedBy(hard);
    };
  }
  return hooks;
}

std::unique_ptr<EnforcementWatch> QuotaController::NewEnforcement() {
  if (!options_.unenforced) return nullptr;
  return std::make_unique<EnforcementWatch>(
      *context_.scheduler, options_.unenforced, tracker_, quotas_.store(),
      [this](const api::ObjectKey& key) { cluster_ ? queue_.Add(key) : reporter_.LookSoon(key); });
}

base::Task<void> QuotaController::Run() {
  co_await base::DeferCancellation();
  base::TaskGroup sources(context_.executor);
  base::TaskGroup workers(context_.executor);
  sources.Spawn("quotas " + api_.name, [this] { return quotas_.Run(); });
  if (cluster_) {
    sources.Spawn("reach " + api_.name, [this] { return cluster_->reach.Run(); });
    sources.Spawn("largest " + api_.name, [this] { return cluster_->largest.Run(); });
  }
  if (enforcement_)
    sources.Spawn("enforcement " + api_.name, [this] { return enforcement_->Run(); });
  sources.Spawn("tracker " + api_.name, [this] { return tracker_.Run(); });
  sources.Spawn("reporter " + api_.name, [this] { return reporter_.Run(); });
  sources.Spawn("walk " + api_.name, [this] { return walk_.Run(); });
  sources.Spawn("resync " + api_.name, [this] { return resync_.Run(); });
  for (std::size_t i = 0; i < options_.workers; ++i) {
    workers.Spawn("worker " + api_.name, [this] { return Work(); });
  }
  stalls_ = StallDetector(context_.scheduler->Now());
  const std::unique_ptr<base::Alarm> beat = context_.scheduler->NewAlarm();
  while (!co_await base::Stopping()) {
    co_await beat->WaitUntil(context_.scheduler->Now() + StallDetector::kBeat);
    stalls_.Beat(context_.scheduler->Now());
  }
  co_await base::IgnoreCancellation();  // the waits below end without cancellation
  queue_.ShutDown();
  co_await workers.Join();  // a write that was sent ends within its timeout
  VLOG(2) << "workers stopped quota_api=" << api_.name;
  sources.Cancel();
  co_await sources.Join();
  VLOG(2) << "informers stopped quota_api=" << api_.name;
}

bool QuotaController::Ready(std::string* why) const {
  if (!store().synced()) {
    *why = "quotas of " + api_.name + " are not listed yet" +
           (trouble() ? ": " + trouble()->message : std::string());
    return false;
  }
  if (cluster_ && !cluster_->reach.synced() && !cluster_->reach.trouble()) {
    *why = "namespaces are still being listed";
    return false;
  }
  if (!tracker_.Settled()) {
    *why = "resources that quotas of " + api_.name + " name are still being listed";
    return false;
  }
  return true;
}

bool QuotaController::NotServed() const {
  return trouble() && trouble()->Is(base::ErrorCode::kNotFound);
}

void QuotaController::OnQuota(const quota::Quota* before, const quota::Quota* after) {
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
  const bool ours = account.OnQuota(context_.scheduler->Now(), before, *after,
                                    before == nullptr || !store().in_order(), counted);
  quotas_.log().Set("list of", after->key.ToString(), account.rejected);
  quotas_.log().Set("stored status of", after->key.ToString(), after->garbage.why);
  if (cluster_ && (before == nullptr || before->status != after->status)) {
    cluster_->largest.OnUsed(after->key);
    walk_.OnParent(after->key.name);
  }
  if (cluster_) {
    const quota::Quota& decisive = account.Decisive(*after);
    cluster_->reach.SetPromised(after->key.name, quota::Promised(decisive, decisive.status.used));
  }
  const bool respecified = renamed || before->selector != after->selector ||
                           before->unreadable.why != after->unreadable.why;
  if (!ours || respecified) return queue_.Add(after->key);
  // Our own write needs no recount, but its reservations are checked when their hold ends.
  queue_.AddAfter(after->key, recounter_.hold());
}

void QuotaController::NoticeConstraints() {
  if (store().synced() && options_.on_constrained) options_.on_constrained();
}

void QuotaController::OnQuotasSynced() {
  if (cluster_) cluster_->reach.OnQuotasSynced();
  NoticeConstraints();
  LOG(INFO) << "quotas listed quota_api=" << api_.name << " quotas=" << store().size();
}

void QuotaController::OnUsageChange(const quota::Evaluator& evaluator,
                                    const quota::LedgerChange& change) {
  for (const api::ObjectKey& key : reach_.QuotasOf(change.ns)) {
    const quota::Quota* quota = store().Find(key);
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
    account.OnAppeared(context_.scheduler->Now(),
                       {.resource = evaluator.resource.ToString(),
                        .uid = change.uid,
                        .version = std::string(change.version),
                        .usage = quota::Excess(usage(change.after), usage(change.before)),
                        .is_new = !change.before});
  }
}

void QuotaController::ChangeEvaluator(const api::GroupResource& resource,
                                      const std::function<void()>& change) {
  const auto before = api_.evaluators.Find(resource);
  change();
  const auto after = api_.evaluators.Find(resource);
  if (before == after) return;
  std::vector<const quota::Quota*> quotas;
  quotas.reserve(store().size());
  QuotaStore::Place place;
  (void)store().VisitSome(place, store().size(),
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
void QuotaController::OnShown(std::string_view ns, const quota::Uid& uid) {
  for (const api::ObjectKey& key : reach_.QuotasOf(ns)) {
    const Account* account = quotas_.accounts().Find(key);
    if (account != nullptr && account->known().Names(uid)) queue_.AddAfter(key, kGathers);
  }
}

void QuotaController::OnResourceState(const quota::Evaluator& evaluator) {
  tracker_.OnResourceState();
  NoticeConstraints();
  reporter_.OnResourceState();
  walk_.OnResourceState(evaluator);
}

void QuotaController::OnClassChange(const quota::Evaluator& evaluator, const std::string& name) {
  tracker_.OnClasses();
  // Until objects are counted, no quota depends on the class.
  if (tracker_.Find(evaluator.resource) != nullptr) walk_.OnClassChange(evaluator, name);
}

void QuotaController::OnClassState(const quota::Evaluator& evaluator) {
  tracker_.OnClasses();
  tracker_.OnResourceState();
  reporter_.OnResourceState();
  walk_.OnClassState(evaluator);
}

void QuotaController::SetSlowestWebhook(base::Duration slowest) {
  quotas_.accounts().author.webhook = std::chrono::ceil<std::chrono::seconds>(
      std::min<base::Duration>(slowest, accounting::kLongestWebhook));
  recounter_.SetHold(accounting::HoldFor(quotas_.accounts().author.webhook));
  walk_.RecountAll();
}

base::Task<void> QuotaController::Work() {
  co_await base::DeferCancellation();
  while (true) {
    const std::optional<api::ObjectKey> key = co_await queue_.Pop();
    if (!key) co_return;
    const base::TimePoint began = context_.scheduler->Now();
    const Recounter::Outcome outcome = co_await recounter_.Reconcile(*key);
    observer_.OnReconcile(outcome.result, context_.scheduler->Now() - began);
    if (outcome.failed) {
      queue_.AddRateLimited(*key);
    } else {
      queue_.Forget(*key);
    }
    if (outcome.after) queue_.AddAfter(*key, *outcome.after);
    queue_.Done(*key);
    co_await base::NextTurn();  // tens of thousands of keys may be waiting
  }
}

}  // namespace controllers
