// The periodic resync: every watched resource against a fresh list, then every quota recounted.

#include <glog/logging.h>

#include <random>

#include "controllers/quota/quota_controller.h"

namespace controllers {

base::Task<void> QuotaController::ResyncPeriodically() {
  co_await base::DeferCancellation();
  if (options_.resync_period <= base::Duration::zero()) co_return;
  std::mt19937_64 random(options_.seed != 0 ? options_.seed : std::random_device{}());
  std::uniform_real_distribution<double> stretch(1.0, 1.0 + options_.resync_jitter);
  while (true) {
    co_await context_.scheduler->Sleep(
        std::chrono::duration_cast<base::Duration>(options_.resync_period * stretch(random)));
    if (co_await base::Stopping()) co_return;
    if (Leading()) co_await ResyncAll();
  }
}

base::Task<void> QuotaController::ResyncAll() {
  const base::TimePoint began = context_.scheduler->Now();
  bool complete = true;
  for (const std::shared_ptr<TrackedResource>& tracked : tracker_.Watched()) {
    complete = co_await ResyncOne(tracked) && complete;
    if (co_await base::Stopping()) co_return;
  }
  ForMany().recount_all = true;
  const base::Duration took = context_.scheduler->Now() - began;
  observer_.OnResync(took, complete);
  VLOG(1) << "resync quota_api=" << api_.name << " quotas=" << store_.size() << " milliseconds="
          << std::chrono::duration_cast<std::chrono::milliseconds>(took).count();
}

base::Task<bool> QuotaController::ResyncOne(std::shared_ptr<TrackedResource> tracked) {
  const std::string resource = tracked->resource().ToString();
  const auto report = co_await tracked->Resync(options_.settle);
  if (!report) {
    if (!report.error().Is(base::ErrorCode::kCancelled)) {
      ComplainOnce("resync of " + resource, report.error().message);
    }
    co_return false;
  }
  ComplainOnce("resync of " + resource, "");
  if (!*report) co_return true;  // it listed again by itself meanwhile
  observer_.OnDrift(tracked->evaluator().resource, **report);
  const quota::Drift& drift = (*report)->drift;
  if (drift.objects() > 0) {
    LOG(WARNING) << "drift repaired resource=" << resource << " listed=" << (*report)->listed
                 << " missing=" << drift.missing << " vanished=" << drift.vanished
                 << " different=" << drift.different << " usage=\"" << (*report)->usage.ToString()
                 << "\"";
  }
  co_return true;
}

}  // namespace controllers
