#pragma once

// Tells people, by events on the quota, what QuotaConditions decides: names that are stale, healed,
// not served or unknown, and limits that fell below what is used.
//
// It looks at a quota when something about it changed (told by the controller) and when a patience
// ends, apart from counting and writing, which never wait for it. While the API server is away,
// which its own watch of the quotas shows, nothing is said about anybody: every resource is in
// trouble then, and no quota in particular. A replica that does not lead looks and says nothing.
//
// Single-threaded. Run() must have returned before it is destroyed.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "controllers/quota/quota_conditions.h"
#include "controllers/quota/quota_store.h"
#include "controllers/quota/tracker.h"
#include "pkg/base/backoff.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/event_recorder.h"
#include "pkg/queue/work_queue.h"

namespace controllers {

// With resources that are tried again after such pauses.
ConditionPatience PatienceFor(const base::BackoffOptions& pauses);

class QuotaReporter {
 public:
  // Everything outlives the reporter. `events` may be null: then conditions are followed, for the
  // metrics, and nothing is said. `server_away`: whether the quotas themselves can be followed.
  // `leading`: whether it is this replica that tells people. `exempt`: as in the controller's
  // options.
  QuotaReporter(base::Scheduler& scheduler, client::EventRecorder* events,
                const quota::QuotaApi& api, const QuotaStore& store, const Tracker& tracker,
                std::function<bool()> server_away, std::function<bool()> leading,
                std::function<bool(std::string_view ns)> exempt, ConditionPatience patience);

  // As QuotaListener::OnQuota.
  void OnQuota(const quota::Quota* before, const quota::Quota* after);
  // The state of a resource changed; LookSoon() follows for each quota that names it.
  void OnResourceState();
  void LookSoon(const api::ObjectKey& key);
  // The quota was counted, but objects of these could not be read; of their names those in
  // `unknown` have no count.
  void OnCount(const api::ObjectKey& key, std::vector<Obstacle> unreadable,
               const std::vector<std::string>& unknown);

  // Called when what was told of a quota (QuotaConditions::ToldOf) has changed.
  void SetListener(std::function<void(const api::ObjectKey& key)> on_told) {
    on_told_ = std::move(on_told);
  }

  // Looks, until cancelled.
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
  std::function<bool(std::string_view ns)> exempt_;
  std::function<void(const api::ObjectKey& key)> on_told_ = nullptr;
  QuotaConditions conditions_;
  queue::WorkQueue<api::ObjectKey> due_;
  std::unordered_map<api::ObjectKey, std::vector<Obstacle>> unreadable_;
  std::unique_ptr<base::Alarm> wake_;
  bool away_ = false;  // seen so at the last look
  base::TimePoint server_since_{};
};

}  // namespace controllers
