#include "controllers/quota/quota_controller.h"

#include <glog/logging.h>

namespace controllers {

QuotaController::QuotaController(TrackingContext context, const quota::QuotaApi& api,
                                 ServedResources& served, SharedResources& shared,
                                 ControllerObserver& observer,
                                 const QuotaControllerOptions& options,
                                 queue::Observer& queue_observer)
    : context_(std::move(context)),
      options_(options),
      stalls_(context_.scheduler->Now()),
      observer_(observer),
      queue_(*context_.scheduler,
             {.retry = {.cap = std::chrono::seconds(60), .jitter = 0.2}, .seed = options.seed},
             queue_observer),
      changes_(*context_.scheduler, options_, quotas_, tracker_, usage_, queue_, reporter_,
               cluster_),
      quotas_(context_, api, options_, stalls_, changes_,
              [this] {
                tracker_.Relist();
                if (cluster_) cluster_->reach.Relist();
              }),
      tracker_(context_, api, served, shared, changes_,
               options.guarded != nullptr && !api.form.cluster),
      usage_(*context_.scheduler, *context_.client, served, tracker_, stalls_),
      reporter_(
          context_, api, options_, quotas_.store(), tracker_,
          [this] { return quotas_.trouble().has_value(); },
          [this](const api::ObjectKey& key) {
            if (cluster_) queue_.Add(key);
          }),
      cluster_(!api.form.cluster ? nullptr
                                 : std::make_unique<ClusterQuotas>(
                                       context_, stalls_, changes_.ReachHooks(), quotas_.store(),
                                       usage_, reporter_, options_, queue_)),
      writer_(context_, quotas_, usage_, reporter_),
      reservations_(context_, options_, quotas_, usage_, reach(), writer_, observer_,
                    [this](const auto& key, base::Duration after) { queue_.AddAfter(key, after); }),
      recounter_(context_, options_, quotas_, tracker_, usage_, writer_, reporter_, observer_,
                 cluster_ ? &cluster_->status : nullptr),
      resync_(*context_.scheduler, tracker_, quotas_.log(), observer, options_,
              [this] { changes_.RecountAll(); }) {
  if (cluster_) usage_.SetLabels(&cluster_->reach);
}

base::Task<void> QuotaController::Run() {
  co_await base::DeferCancellation();
  const std::string& api_name = quotas_.api().name;
  base::TaskGroup sources(context_.executor);
  base::TaskGroup workers(context_.executor);
  sources.Spawn("quotas " + api_name, [this] { return quotas_.Run(); });
  if (cluster_) {
    sources.Spawn("reach " + api_name, [this] { return cluster_->reach.Run(); });
    sources.Spawn("largest " + api_name, [this] { return cluster_->largest.Run(); });
  }
  if (reporter_.enforcement() != nullptr) {
    sources.Spawn("enforcement " + api_name, [this] { return reporter_.enforcement()->Run(); });
  }
  sources.Spawn("tracker " + api_name, [this] { return tracker_.Run(); });
  sources.Spawn("reporter " + api_name, [this] { return reporter_.Run(); });
  sources.Spawn("changes " + api_name, [this] { return changes_.Run(); });
  sources.Spawn("resync " + api_name, [this] { return resync_.Run(); });
  for (std::size_t i = 0; i < options_.workers; ++i) {
    workers.Spawn("worker " + api_name, [this] { return Work(); });
  }
  stalls_ = StallDetector(context_.scheduler->Now());
  const std::unique_ptr<base::Alarm> beat = context_.scheduler->NewAlarm();
  while (!co_await base::Stopping()) {
    co_await beat->WaitUntil(context_.scheduler->Now() + StallDetector::kBeat);
    stalls_.Beat(context_.scheduler->Now());
  }
  co_await base::IgnoreCancellation();  // the waits below end without cancellation
  queue_.ShutDown();
  recounter_.Stop();
  co_await workers.Join();  // a write that was sent ends within its timeout
  VLOG(2) << "workers stopped quota_api=" << api_name;
  sources.Cancel();
  co_await sources.Join();
  VLOG(2) << "informers stopped quota_api=" << api_name;
}

bool QuotaController::Ready(std::string* why) const {
  if (!store().synced()) {
    *why = "quotas of " + quotas_.api().name + " are not listed yet" +
           (trouble() ? ": " + trouble()->message : std::string());
    return false;
  }
  if (cluster_ && !cluster_->reach.synced() && !cluster_->reach.trouble()) {
    *why = "namespaces are still being listed";
    return false;
  }
  if (!tracker_.Settled()) {
    *why = "resources that quotas of " + quotas_.api().name + " name are still being listed";
    return false;
  }
  return true;
}

bool QuotaController::NotServed() const {
  return trouble() && trouble()->Is(base::ErrorCode::kNotFound);
}

void QuotaController::SetSlowestWebhook(base::Duration slowest) {
  quotas_.accounts().author.webhook = std::chrono::ceil<std::chrono::seconds>(
      std::min<base::Duration>(slowest, accounting::kLongestWebhook));
  quotas_.accounts().hold = accounting::HoldFor(quotas_.accounts().author.webhook);
  changes_.RecountAll();
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
