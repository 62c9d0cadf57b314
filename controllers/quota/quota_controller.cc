// Events in, keys out: what enqueues a quota, and the workers. The reconcile itself is in
// reconcile.cc, the periodic resync in resync.cc.

#include "controllers/quota/quota_controller.h"

#include <glog/logging.h>

#include <algorithm>

#include "pkg/api/resource_version.h"

namespace controllers {
namespace {

informers::ReflectorOptions QuotaReflectorOptions(informers::ReflectorOptions options,
                                                  const quota::QuotaApi& api,
                                                  metrics::InformerMetrics* metrics) {
  options.metrics = metrics;
  options.resource = api.resource;
  options.fields = api.fields;
  return options;
}

}  // namespace

QuotaController::QuotaController(TrackingContext context, const quota::QuotaApi& api,
                                 ServedResources& served, ControllerObserver& observer,
                                 const QuotaControllerOptions& options,
                                 queue::Observer& queue_observer)
    : context_(std::move(context)),
      api_(api),
      served_(served),
      observer_(observer),
      options_(options),
      pulse_(context_.scheduler->Now()),
      store_(api.name, *this, api.selectors),
      tracker_(context_, api_, served, *this, {.by_namespace = options.guarded != nullptr}),
      reporter_(
          *context_.scheduler, context_.events, api_, store_, tracker_,
          [this] { return quotas_->state().trouble.has_value(); }, [this] { return Leading(); },
          options.exempt, PatienceFor(context_.reflector.backoff)),
      walk_wanted_(context_.scheduler->NewAlarm()),
      quota_metrics_(NewInformerMetrics(context_, context_.name + "-quotas", api_.resource)),
      quotas_(informers::NewReflector(
          *context_.client, *context_.scheduler, store_,
          QuotaReflectorOptions(context_.reflector, api_, quota_metrics_.get()))),
      queue_(*context_.scheduler,
             {.retry = {.cap = std::chrono::seconds(60), .jitter = 0.2}, .seed = options.seed},
             queue_observer) {}

base::Task<void> QuotaController::Run() {
  co_await base::DeferCancellation();
  base::TaskGroup sources(context_.executor);
  base::TaskGroup workers(context_.executor);
  sources.Spawn("quotas " + api_.name, [this] { return quotas_->Run(); });
  sources.Spawn("tracker " + api_.name, [this] { return tracker_.Run(); });
  sources.Spawn("reporter " + api_.name, [this] { return reporter_.Run(); });
  sources.Spawn("walk " + api_.name, [this] { return WalkQuotas(); });
  sources.Spawn("resync " + api_.name, [this] { return ResyncPeriodically(); });
  for (std::size_t i = 0; i < options_.workers; ++i) {
    workers.Spawn("worker " + api_.name, [this] { return Work(); });
  }
  pulse_ = Pulse(context_.scheduler->Now());
  const std::unique_ptr<base::Alarm> beat = context_.scheduler->NewAlarm();
  while (!co_await base::Stopping()) {
    co_await beat->WaitUntil(context_.scheduler->Now() + Pulse::kBeat);
    pulse_.Beat(context_.scheduler->Now());
  }
  co_await base::IgnoreCancellation();  // the waits below end by themselves
  queue_.ShutDown();
  co_await workers.Join();  // a write in hand finishes, within its timeout
  VLOG(2) << "workers stopped quota_api=" << api_.name;
  sources.Cancel();
  co_await sources.Join();
  VLOG(2) << "informers stopped quota_api=" << api_.name;
}

bool QuotaController::Ready(std::string* why) const {
  if (!store_.synced()) {
    const auto& trouble = quotas_->state().trouble;
    *why = "quotas of " + api_.name + " are not listed yet" +
           (trouble ? ": " + trouble->message : std::string());
    return false;
  }
  if (!tracker_.Settled()) {
    *why = "resources that quotas of " + api_.name + " name are still being listed";
    return false;
  }
  return true;
}

void QuotaController::OnQuota(const quota::Quota* before, const quota::Quota* after) {
  tracker_.OnQuota(before, after);
  const bool renamed = before == nullptr || after == nullptr || before->hard != after->hard;
  if (renamed) NoticeConstraints();
  reporter_.OnQuota(before, after);
  if (after == nullptr) {
    memories_.erase(before->key);
    for (const char* about : {"count of ", "sum of ", "status of ", "charging of "}) {
      complaints_.erase(about + before->key.ToString());
    }
    return;
  }
  if (before == nullptr) return queue_.Add(after->key);
  Memory& memory = Remember(*after);
  if (store_.in_order()) {  // a write of ours, if it was made, is among what is shown
    memory.shown = true;
    memory.unanswered.reset();
  }
  const bool written = after->resource_version == memory.written_version;
  const bool alike = memory.in_flight && *memory.in_flight == after->status;
  const bool ours = written || alike;
  if (alike && !written && before->status != after->status) {
    const base::TimePoint now = context_.scheduler->Now();
    memory.look_alikes.push_back({*before, *after, memory.charges.Held(now)});
  }
  const bool respecified = before->hard != after->hard || before->selector != after->selector;
  if (!ours && before->status != after->status) NoticeForeignWrite(*before, *after);
  if (!ours || respecified) queue_.Add(after->key);
}

void QuotaController::NoticeConstraints() {
  if (store_.synced() && options_.on_constrained) options_.on_constrained();
}

void QuotaController::OnQuotasSynced() {
  NoticeConstraints();
  LOG(INFO) << "quotas listed quota_api=" << api_.name << " quotas=" << store_.size();
}

void QuotaController::OnUsageChange(const quota::Evaluator& evaluator,
                                    const quota::LedgerChange& change) {
  for (const api::ObjectKey& key : store_.InNamespace(change.ns)) {
    const quota::Quota* quota = store_.Find(key);
    if (tracker_.OwnedNames(evaluator, quota->hard).empty()) continue;
    const auto matches = [&](const std::shared_ptr<const quota::Facts>& facts) {
      return facts && quota::MatchesObject(quota->selector, *facts, evaluator.scopes);
    };
    const bool matched = matches(change.before);
    const bool match = matches(change.after);
    // Facts that are null may also be those of an object that became unreadable or readable.
    if (!matched && !match && change.before && change.after) continue;
    NoticeObject(*quota, evaluator, change, matched, match);
    queue_.Add(key);
  }
}

// What of an object's growth no charge of ours granted uses up the charges of others.
void QuotaController::NoticeObject(const quota::Quota& quota, const quota::Evaluator& evaluator,
                                   const quota::LedgerChange& change, bool matched, bool match) {
  Memory& memory = Remember(quota);
  quota::ResourceList before;
  quota::ResourceList after;
  if (matched) before = UsageOf(quota, evaluator, change, *change.before);
  if (match) after = UsageOf(quota, evaluator, change, *change.after);
  memory.charges.OnShrunk(quota::Excess(before, after));
  if (change.after == nullptr) return memory.admitted.OnGone(change.uid);
  const bool past = HasLater(evaluator, change.uid, memory.admitted.AskedAbout(change.uid));
  const quota::ResourceList growth =
      memory.admitted.OnSeen(change.uid, before, match ? &after : nullptr, past);
  if (match) memory.charges.OnAppeared(growth);
}

void QuotaController::OnResourceState(const quota::Evaluator& evaluator) {
  tracker_.OnResourceState();
  NoticeConstraints();
  reporter_.OnResourceState();
  ForMany().states.insert_or_assign(evaluator.resource, evaluator);
}

void QuotaController::OnLeading() { ForMany().report_all = true; }

void QuotaController::OnGuards() { ForMany().recount_all = true; }

Concerns& QuotaController::ForMany() {
  walk_wanted_->Wake();
  return walk_.next();
}

base::Task<void> QuotaController::WalkQuotas() {
  co_await base::DeferCancellation();
  const auto visit = [this](const quota::Quota& quota, const Concerns& concerns) {
    Visit(quota, concerns);
  };
  while (!co_await base::Stopping()) {
    if (!walk_.wanted()) {
      co_await walk_wanted_->WaitUntil(base::TimePoint::max());
      continue;
    }
    walk_.Begin();
    for (bool more = true; more;) {
      more = walk_.Step(store_, visit);
      co_await base::NextTurn();
      if (co_await base::Stopping()) co_return;
    }
  }
}

void QuotaController::Visit(const quota::Quota& quota, const Concerns& concerns) {
  bool report = concerns.report_all;
  for (const auto& [resource, evaluator] : concerns.states) {
    report = report || !tracker_.OwnedNames(evaluator, quota.hard).empty();
  }
  for (const auto& [resource, evaluator] : concerns.class_states) {
    report = report || !quota::NamesOfClasses(evaluator, quota.hard).empty();
  }
  bool recount = concerns.recount_all || report;
  if (concerns.charge_hold) recount = NoticeHold(quota) || recount;
  for (const auto& [resource, changed] : concerns.classes) {
    recount = NoticeClasses(quota, changed) || recount;
  }
  if (report) reporter_.LookSoon(quota.key);
  if (recount) queue_.Add(quota.key);
}

QuotaController::Memory* QuotaController::FindMemory(const quota::Quota& quota) {
  const auto memory = memories_.find(quota.key);
  const bool same = memory != memories_.end() && memory->second.uid == quota.uid;
  return same ? &memory->second : nullptr;
}

QuotaController::Memory& QuotaController::Remember(const quota::Quota& quota) {
  const auto [entry, added] = memories_.try_emplace(quota.key, *context_.scheduler, options_);
  if (!added && entry->second.uid != quota.uid) {
    entry->second = Memory(*context_.scheduler, options_);
  }
  entry->second.uid = quota.uid;
  return entry->second;
}

base::Task<void> QuotaController::Work() {
  co_await base::DeferCancellation();
  while (true) {
    const std::optional<api::ObjectKey> key = co_await queue_.Pop();
    if (!key) co_return;
    const base::TimePoint began = context_.scheduler->Now();
    const Outcome outcome = co_await Reconcile(*key);
    observer_.OnReconcile(outcome.result, context_.scheduler->Now() - began);
    Settle(*key, outcome);
    co_await base::NextTurn();  // keys may be waiting by the ten thousand
  }
}

void QuotaController::Settle(const api::ObjectKey& key, const Outcome& outcome) {
  if (outcome.kind == Outcome::Kind::kRetry) {
    queue_.AddRateLimited(key);
  } else {
    queue_.Forget(key);
    if (outcome.kind == Outcome::Kind::kRevisit) queue_.AddAfter(key, outcome.after);
  }
  queue_.Done(key);
}

void QuotaController::ComplainOnce(const std::string& about, const std::string& message) {
  if (message.empty()) {
    complaints_.erase(about);
    return;
  }
  std::string& said = complaints_[about];
  if (said == message) return;
  said = message;
  LOG(WARNING) << about << " fails quota_api=" << api_.name << " error=\"" << message << "\"";
}

}  // namespace controllers
