#pragma once

// What a quota controller is to do, and what operators want to count of it.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "controllers/quota/tracked_resource.h"
#include "pkg/accounting/crowd.h"
#include "pkg/accounting/timing.h"
#include "pkg/admission/observer.h"
#include "pkg/quota/quota.h"

namespace controllers {

// Implemented where the metrics are.
class ControllerObserver {
 public:
  virtual ~ControllerObserver() = default;
  // `result` is "written", "unchanged", "postponed", "conflict", "error", or "following": what is
  // to be written is the leader's matter.
  virtual void OnReconcile(std::string_view result, base::Duration took) = 0;
  virtual void OnDrift(const api::GroupResource& resource, const DriftReport& report) = 0;
  virtual void OnResync(base::Duration took, bool complete) = 0;
  // Increases of `used` by somebody else that no object ever accounted for.
  virtual void OnForeignChargesExpired(std::size_t charges) = 0;
  // That is about to be reserved for creations to come.
  virtual void OnBurst(const quota::Quota& quota, const quota::ResourceList& usage) = 0;
};

struct QuotaControllerOptions {
  std::size_t workers = 5;
  base::Duration resync_period = std::chrono::minutes(5);  // zero: no periodic resync
  double resync_jitter = 0.1;                              // each period is stretched by up to this
  base::Duration settle = std::chrono::seconds(3);  // how far a watch may lag behind a fresh list
  // A quota's status is written at once after a change, so many times in a row; under lasting churn
  // then once in this time.
  int write_burst = 40;
  base::Duration write_interval = std::chrono::milliseconds(55);
  // A first status, or one with new names, waits so long for resources that are still being listed.
  base::Duration first_count_patience = std::chrono::seconds(10);
  // How long a reservation is held before the server is asked for its object. See
  // SetSlowestWebhook().
  base::Duration hold = accounting::HoldFor({});
  accounting::CrowdOptions crowd;  // for whom usage is reserved before they come
  base::Duration write_timeout = std::chrono::seconds(15);
  // Names this process in what it reserves; of all that write these quotas it alone has it.
  std::string identity = "quota-controller-manager";
  // Whether this replica is the one that keeps statuses right, at this moment; it is asked right
  // before each write. The others inform, count and admit. Null: always. See OnLeading().
  std::function<bool()> leading;
  // True once admission guards the evaluator's resource in this namespace: a name enters
  // status.hard only then. Null: this quota API is not decided at admission here.
  std::function<bool(const quota::Evaluator& evaluator, std::string_view ns)> guarded;
  // Namespaces in which admission refuses nothing, which is told to their quotas. Null: none.
  std::function<bool(std::string_view ns)> exempt;
  // Called, once the quotas are listed, whenever tracker().Constrained() may have changed. May be
  // null.
  std::function<void()> on_constrained;
  admission::Observer* admission = &admission::NoObserver();  // outlives the controller
  std::uint64_t seed = 0;                                     // of the jitter; 0: random
};

}  // namespace controllers
