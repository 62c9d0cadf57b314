#pragma once

// Starts and stops the watches of wanted resources: it watches what quotas need as soon as the
// server serves it. What no quota needs any more is dropped after a while.
//
// Part of a Tracker, which calls it from its own loop. Single-threaded.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/usage/class_tracker.h"
#include "controllers/usage/quota_limits.h"
#include "controllers/usage/served_resources.h"
#include "controllers/usage/shared_resources.h"
#include "controllers/usage/wanted_resources.h"
#include "pkg/base/log_limit.h"

namespace controllers {

class ResourceTracker {
 public:
  // All references must outlive it. `changed` as in WantedResources.
  ResourceTracker(TrackingContext context, const quota::QuotaApi& api, ServedResources& served,
                  SharedResources& shared, UsageListener& listener, const QuotaLimits& limits,
                  const ClassTracker& classes, base::Alarm& changed);

  [[nodiscard]] WantedResources& wanted() { return wanted_; }
  [[nodiscard]] const WantedResources& wanted() const { return wanted_; }
  // As Tracker::SetGroups().
  void SetGroups(std::string_view ns, std::vector<std::string> groups);

  // True if every wanted resource is synced, failed, or not served.
  [[nodiscard]] bool Settled() const;
  // True if a resource that became wanted after `since` is not watched, or its watch gets a 404, so
  // it may be deleted or moved to another version.
  [[nodiscard]] bool AnyUnresolved(base::TimePoint since) const;
  // When the next unneeded watch may be dropped, at most `latest`.
  [[nodiscard]] base::TimePoint NextDrop(base::TimePoint latest) const;

  // Starts watches for what the server is known to serve.
  void StartServed();
  // Notes what the server does not serve, as it has just answered.
  void NoteUnserved();
  base::Task<void> StopUnneeded();
  base::Task<void> StopAll();

 private:
  // The version that the evaluator reads.
  [[nodiscard]] std::optional<api::GroupVersionResource> ServedFor(
      const quota::Evaluator& evaluator) const {
    return served_.FindIn(evaluator.version, evaluator.resource);
  }
  // True if the watch reads for a former evaluator, or what the server does not serve, or serves in
  // another version only.
  [[nodiscard]] bool MustStop(const Wanted& wanted) const;
  std::shared_ptr<TrackedResource> Leave(Wanted& wanted);

  TrackingContext context_;
  const quota::QuotaApi& api_;
  ServedResources& served_;
  SharedResources& shared_;
  UsageListener& listener_;
  const QuotaLimits& limits_;
  const ClassTracker& classes_;
  WantedResources wanted_;
  std::map<std::string, std::vector<std::string>, std::less<>> groups_;  // by namespace
  base::LogLimit unserved_lines_;
};

}  // namespace controllers
