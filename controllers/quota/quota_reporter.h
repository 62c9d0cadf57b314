#pragma once

// Sends the events that QuotaConditions decides: names that are stale, recovered, not served or
// unknown, and limits below the usage.
//
// It checks a quota when the controller reports a change, and when a delay ends. Counting and
// writing never wait for it. While the API server is away, which the watch of quotas shows, it
// reports nothing: every resource fails then, and no single quota is affected. A replica that does
// not lead checks, but sends nothing.
//
// Single-threaded. Run() must have returned before it is destroyed.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controllers/quota/quota_conditions.h"
#include "controllers/quota/quota_store.h"
#include "controllers/quota/tracker.h"
#include "pkg/base/backoff.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/event_recorder.h"
#include "pkg/queue/work_queue.h"

namespace controllers {

// The delays that fit to these pauses between two attempts.
ConditionPatience PatienceFor(const base::BackoffOptions& pauses);

class QuotaReporter {
 public:
  // All references must outlive the reporter. `events` may be null: then conditions are only kept
  // for the metrics. `server_away`: true if the quotas themselves cannot be watched. `leading`:
  // true if this replica sends the events. `exempt`: as in the options of the controller.
  QuotaReporter(base::Scheduler& scheduler, client::EventRecorder* events,
                const quota::QuotaApi& api, const QuotaStore& store, const Tracker& tracker,
                std::function<bool()> server_away, std::function<bool()> leading,
                const std::set<std::string, std::less<>>& exempt, ConditionPatience patience);

  // As QuotaListener::OnQuota().
  void OnQuota(const quota::Quota* before, const quota::Quota* after);
  // The state of a resource changed. The caller then calls LookSoon() for each quota that names it.
  void OnResourceState();
  void LookSoon(const api::ObjectKey& key);
  // The quota was counted, but objects of these resources could not be read. Of their names, the
  // ones in `unknown` have no count.
  void OnCount(const api::ObjectKey& key, std::vector<Obstacle> unreadable,
               const std::vector<std::string>& unknown);

  // Calls `on_told` when the events that hold for a quota (QuotaConditions::ToldOf) have changed.
  void SetListener(std::function<void(const api::ObjectKey& key)> on_told) {
    on_told_ = std::move(on_told);
  }

  // Checks quotas until cancelled.
  base::Task<void> Run();

  [[nodiscard]] const QuotaConditions& conditions() const { return conditions_; }

 private:
  bool LookAtSomeDue();
  void LookAt(const api::ObjectKey& key);
  [[nodiscard]] std::vector<Obstacle> ObstaclesOf(const quota::Quota& quota) const;
  [[nodiscard]] Obstacle Judge(const UsageSource& source) const;
  [[nodiscard]] base::TimePoint NextLook() const;
  bool Say(const quota::Quota& quota, const Announcement& announcement);

  base::Scheduler& scheduler_;
  client::EventRecorder* events_;
  const quota::QuotaApi& api_;
  const QuotaStore& store_;
  const Tracker& tracker_;
  std::function<bool()> server_away_;
  std::function<bool()> leading_;
  const std::set<std::string, std::less<>>& exempt_;
  std::function<void(const api::ObjectKey& key)> on_told_ = nullptr;
  QuotaConditions conditions_;
  queue::WorkQueue<api::ObjectKey> due_;
  std::map<api::ObjectKey, std::vector<Obstacle>> unreadable_;
  std::unique_ptr<base::Alarm> wake_;
  bool away_ = false;  // whether the server was away at the last check
  base::TimePoint server_since_{};
};

}  // namespace controllers
