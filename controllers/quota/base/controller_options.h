#pragma once

// Options of a quota controller, and its hooks for metrics.

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "controllers/usage/tracked_resource.h"
#include "pkg/accounting/crowd.h"
#include "pkg/accounting/timing.h"
#include "pkg/admission/observer.h"
#include "pkg/quota/quota.h"

namespace controllers {

// Implemented by the metrics.
class ControllerObserver {
 public:
  virtual ~ControllerObserver() = default;
  // `result` is "written", "unchanged", "postponed", "conflict", "error", or "following" (the
  // leader writes).
  virtual void OnReconcile(std::string_view result, base::Duration took) = 0;
  virtual void OnDrift(const api::GroupResource& resource, const DriftReport& report) = 0;
  virtual void OnResync(base::Duration took, bool complete) = 0;
  // External writers raised `used`, and no object ever matched the increases.
  virtual void OnExternalChargesExpired(std::size_t charges) = 0;
  // `usage` is about to be reserved for creations that are expected.
  virtual void OnBurst(const quota::Quota& quota, const quota::ResourceList& usage) = 0;
};

// What the API server does not ask us about now, although quotas limit it.
struct Unenforced {
  std::string why = {};  // why it asks about nothing; "": it asks
  bool decided = false;  // somebody wants it so, thus it does not pass by itself
  std::set<api::GroupResource> resources = {};  // that it does not ask about
};

struct QuotaControllerOptions {
  std::size_t workers = 5;
  base::Duration resync_period = std::chrono::minutes(5);  // zero: no periodic resync
  double resync_jitter = 0.1;  // each period is extended by up to this fraction
  base::Duration settle = std::chrono::seconds(3);  // how far a watch may lag behind a fresh list
  // A status is written at once after a change, up to `write_burst` times in a row. After that it
  // is written at most once in `write_interval`.
  int write_burst = 40;
  base::Duration write_interval = std::chrono::milliseconds(55);
  // How long a first status, or one with new names, waits for resources that are still being
  // listed.
  base::Duration first_count_patience = std::chrono::seconds(10);
  // How long a reservation is held before the server is asked for its object. See
  // SetSlowestWebhook().
  base::Duration hold = accounting::HoldFor({});
  accounting::CrowdOptions crowd;  // decides how much is reserved for expected creations
  base::Duration write_timeout = std::chrono::seconds(15);
  // The name of this process in its reservations. It must be unique among all writers of these
  // quotas.
  std::string identity = "quota-controller-manager";
  // Whether this replica leads now. It is called right before each write. Other replicas watch,
  // count and admit. Null: always true. See OnLeading().
  std::function<bool()> leading;
  [[nodiscard]] bool Leads() const { return !leading || leading(); }
  // True once admission guards the evaluator's resource in all namespaces of the quota. A name
  // enters status.hard only then. Null: admission does not decide for this quota API.
  std::function<bool(const quota::Evaluator& evaluator, const api::ObjectKey& quota)> guarded;
  // Namespaces in which admission refuses nothing. Their quotas get an event about this. The set
  // may change: see QuotaController::OnExempt(). Never null.
  std::shared_ptr<const std::set<std::string, std::less<>>> exempt =
      std::make_shared<std::set<std::string, std::less<>>>();
  // What admission is not asked about, for events and the condition Ready; nullopt: it is not known
  // yet. Null: this daemon only counts these quotas, or cannot know.
  std::function<std::optional<Unenforced>()> unenforced;
  // Called after the quota of this key was added, changed or removed. May be null.
  std::function<void(const api::ObjectKey& quota)> on_quota;
  // Called whenever tracker().Constrained() may have changed, once the quotas are listed. May be
  // null.
  std::function<void()> on_constrained;
  admission::Observer* admission = &admission::NoObserver();  // must outlive the controller
  std::uint64_t seed = 0;                                     // of the jitter; 0: random
};

}  // namespace controllers
