#pragma once

// Finds what is wrong with each quota, and announces what QuotaConditions decides: names that are
// stale, recovered, not served or unknown, and limits below the usage.
//
// While the API server is away, which the watch of quotas shows, it reports nothing: every resource
// fails then, and no single quota is affected. A replica that does not lead checks, but sends
// nothing.
//
// Single-threaded. Run() must have returned before it is destroyed.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controllers/quota/base/controller_options.h"
#include "controllers/quota/base/quota_store.h"
#include "controllers/quota/events/announcer.h"
#include "controllers/quota/events/enforcement_watch.h"
#include "controllers/quota/events/quota_conditions.h"
#include "controllers/usage/tracker.h"
#include "pkg/queue/work_queue.h"

namespace controllers {

class QuotaReporter {
 public:
  // All references must outlive the reporter. Without a recorder of events in the context,
  // conditions are only kept for the metrics. `server_away`: true if the quotas themselves cannot
  // be watched. `on_told`: the events that hold for a quota (QuotaConditions::ToldOf) have changed,
  // or whether it is enforced.
  QuotaReporter(const TrackingContext& context, const quota::QuotaApi& api,
                const QuotaControllerOptions& options, const QuotaStore& store,
                const Tracker& tracker, std::function<bool()> server_away,
                std::function<void(const api::ObjectKey& key)> on_told);

  // As QuotaListener::OnQuota().
  void OnQuota(const quota::Quota* before, const quota::Quota* after);
  // The state of a resource changed. The caller then calls LookSoon() for each quota that names it.
  void OnResourceState();
  void LookSoon(const api::ObjectKey& key);
  // The quota was counted, but objects of these resources could not be read.
  void OnCount(const api::ObjectKey& key, std::vector<Obstacle> unreadable);

  // The status of the quota was written; or, with a message, the API server refuses to.
  void OnWrite(const api::ObjectKey& key, const std::string& refused);

  // Checks quotas until cancelled.
  base::Task<void> Run();

  [[nodiscard]] const QuotaConditions& conditions() const { return conditions_; }
  // Whether the quotas are enforced; null if this daemon does not enforce them, or cannot know.
  // Somebody must run it.
  [[nodiscard]] EnforcementWatch* enforcement() const { return enforcement_.get(); }

 private:
  struct Failures {
    std::vector<Obstacle> unreadable;
    std::string unwritable;  // why the status cannot be written

    bool operator==(const Failures&) const = default;
  };
  bool LookAtSomeDue();
  void LookAt(const api::ObjectKey& key);
  [[nodiscard]] std::vector<Obstacle> ObstaclesOf(const quota::Quota& quota) const;
  [[nodiscard]] Obstacle Judge(const UsageSource& source) const;
  [[nodiscard]] const Failures& FailuresOf(const api::ObjectKey& key) const;
  void Note(const api::ObjectKey& key, Failures failures);

  [[nodiscard]] base::TimePoint Now() const { return context_.scheduler->Now(); }

  const TrackingContext& context_;
  const quota::QuotaApi& api_;
  const QuotaControllerOptions& options_;
  const QuotaStore& store_;
  const Tracker& tracker_;
  std::function<bool()> server_away_;
  std::function<void(const api::ObjectKey& key)> on_told_;
  std::unique_ptr<EnforcementWatch> enforcement_;
  Announcer announcer_;
  QuotaConditions conditions_;
  queue::WorkQueue<api::ObjectKey> due_;
  std::map<api::ObjectKey, Failures> failures_;  // of quotas that have any
  std::unique_ptr<base::Alarm> wake_;
  bool away_ = false;  // whether the server was away at the last check
  base::TimePoint server_since_{};
};

}  // namespace controllers
