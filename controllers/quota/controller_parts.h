#pragma once

// What several parts of one quota controller work with. It outlives them. Single-threaded.

#include "controllers/quota/account.h"
#include "controllers/quota/base/controller_options.h"
#include "controllers/quota/base/quota_store.h"
#include "controllers/quota/events/once_log.h"
#include "controllers/usage/observed_usage.h"
#include "controllers/usage/quota_view.h"
#include "controllers/usage/tracker.h"

namespace controllers {

struct ControllerParts {
  const TrackingContext& context;
  const quota::QuotaApi& api;
  const QuotaControllerOptions& options;
  QuotaStore& store;
  Tracker& tracker;
  const ObservedUsage& usage;
  Accounts& accounts;
  OnceLog& log_once;
  ControllerObserver& observer;

  [[nodiscard]] base::TimePoint Now() const { return context.scheduler->Now(); }
  [[nodiscard]] QuotaView ViewOf(const quota::Quota& quota) const {
    return QuotaView(tracker, usage, quota);
  }
};

}  // namespace controllers
