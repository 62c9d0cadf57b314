#pragma once

// What several parts of one quota controller work with. It outlives them. Single-threaded.

#include "controllers/quota/account.h"
#include "controllers/quota/complaints.h"
#include "controllers/quota/controller_options.h"
#include "controllers/quota/observed_usage.h"
#include "controllers/quota/quota_store.h"
#include "controllers/quota/quota_view.h"
#include "controllers/quota/tracker.h"

namespace controllers {

struct ControllerParts {
  const TrackingContext& context;
  const quota::QuotaApi& api;
  const QuotaControllerOptions& options;
  QuotaStore& store;
  Tracker& tracker;
  const ObservedUsage& usage;
  Accounts& accounts;
  Complaints& complaints;
  ControllerObserver& observer;

  [[nodiscard]] base::TimePoint Now() const { return context.scheduler->Now(); }
  [[nodiscard]] QuotaView ViewOf(const quota::Quota& quota) const {
    return QuotaView(tracker, usage, quota);
  }
};

}  // namespace controllers
