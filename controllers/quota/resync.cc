#include "controllers/quota/resync.h"

#include <glog/logging.h>

#include <algorithm>
#include <iterator>
#include <random>

namespace controllers {

base::Task<void> Resync::Run() {
  co_await base::DeferCancellation();
  if (options_.resync_period <= base::Duration::zero()) co_return;
  std::mt19937_64 random(options_.seed != 0 ? options_.seed : std::random_device{}());
  std::uniform_real_distribution<double> stretch(1.0, 1.0 + options_.resync_jitter);
  Round round;
  while (true) {
    const auto turns = static_cast<double>(std::max<std::size_t>(1, tracker_.Resynced().size()));
    co_await scheduler_.Sleep(std::chrono::duration_cast<base::Duration>(
        options_.resync_period * (stretch(random) / turns)));
    if (co_await base::Stopping()) co_return;
    if (options_.Leads()) {
      co_await Next(round);
    } else {
      round = {};
    }
  }
}

base::Task<void> Resync::Next(Round& round) {
  const auto watched = tracker_.Resynced();  // sorted by name
  // Resources may be added or dropped during a round, so it continues by name.
  const auto next = std::ranges::find_if(watched, [&](const auto& tracked) {
    return !round.last || *round.last < tracked->evaluator().resource;
  });
  if (next != watched.end()) {
    round.last = (*next)->evaluator().resource;
    const base::TimePoint began = scheduler_.Now();
    round.complete = co_await One(*next) && round.complete;
    round.took += scheduler_.Now() - began;
    if (std::next(next) != watched.end()) co_return;
  }
  recount_all_();
  observer_.OnResync(round.took, round.complete);
  VLOG(1) << "resync milliseconds="
          << std::chrono::duration_cast<std::chrono::milliseconds>(round.took).count();
  round = {};
}

base::Task<bool> Resync::One(std::shared_ptr<TrackedResource> tracked) {
  const std::string resource = tracked->resource().ToString();
  const auto report = co_await tracked->Resync(options_.settle);
  if (!report) {
    if (!report.error().Is(base::ErrorCode::kCancelled)) {
      log_once_.Set("resync of", resource, report.error().message);
    }
    co_return false;
  }
  log_once_.Set("resync of", resource, "");
  if (!*report) co_return true;  // its watch has listed everything meanwhile
  observer_.OnDrift(tracked->evaluator().resource, **report);
  const quota::Drift& drift = (*report)->drift;
  if (drift.objects() > 0) {
    LOG(WARNING) << "drift repaired resource=" << resource << " listed=" << (*report)->listed
                 << " missing=" << drift.missing << " vanished=" << drift.vanished
                 << " different=" << drift.different
                 << " usage=" << json::Quote((*report)->usage.ToString());
  }
  co_return true;
}

}  // namespace controllers
