#pragma once

// Knows what counts for the quotas of one quota API, and has it watched: the resources that they
// name (resource_tracker.h), and the classes that affect their names (class_tracker.h). Asks what
// the server serves (controllers/quota/DESIGN.md, "When kinds appear or disappear").
//
// Single-threaded. Run() must have returned before it is destroyed.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/usage/class_tracker.h"
#include "controllers/usage/quota_limits.h"
#include "controllers/usage/resource_tracker.h"
#include "controllers/usage/served_resources.h"
#include "controllers/usage/shared_resources.h"
#include "controllers/usage/tracked_resource.h"
#include "pkg/quota/quota.h"

namespace controllers {

// One evaluator that counts some names of a quota. While its classes are unknown there may be a
// second, unwatched source, for the names that it may own because of its classes.
struct UsageSource {
  const quota::Evaluator* evaluator = nullptr;
  std::vector<std::string> names;              // never empty; sorted
  api::GroupResource resource;                 // the resource to list for them
  const quota::ClassTable* classes = nullptr;  // the classes that it reads; null if unknown
  const TrackedResource* tracked = nullptr;    // null: not watched (yet)
  base::TimePoint wanted_since{};
  bool known_absent = false;  // the server answered, and does not serve it as far as is known
  std::optional<base::Error> trouble = {};  // why it cannot be listed or watched
  // As ReflectorState::forbidden. Such a name that was never counted is not in force.
  bool forbidden = false;
};

class Tracker {
 public:
  // `api`, `served`, `shared` and `listener` must outlive the tracker. The listener calls
  // OnResourceStates() and OnClasses(). `by_namespace` as in QuotaLimits.
  Tracker(TrackingContext context, const quota::QuotaApi& api, ServedResources& served,
          SharedResources& shared, UsageListener& listener, bool by_namespace = false);

  // As QuotaListener::OnQuota().
  void OnQuota(const quota::Quota* before, const quota::Quota* after);
  // The evaluator of a resource was added (`before` is null), replaced, or removed (`after` is
  // null) in the quota API. `quotas` are all those that were passed to OnQuota() and not removed.
  // Returns those that limit, or limited, objects of the resource. The resource is watched anew;
  // until it is listed, its names are unknown.
  std::vector<const quota::Quota*> OnEvaluator(const SharedEvaluator& before,
                                               const SharedEvaluator& after,
                                               const std::vector<const quota::Quota*>& quotas);
  // The namespace belongs to these groups (Ledger::SetGroups), in all present and future ledgers.
  void SetGroups(std::string_view ns, std::vector<std::string> groups) {
    resources_.SetGroups(ns, std::move(groups));
  }
  // As UsageListener::OnResourceStates().
  void OnResourceStates();
  // As UsageListener::OnClassChange() and OnClassState(): evaluators may own other names.
  void OnClasses();
  // The evaluators that own names of `hard`. Valid until the next suspension.
  [[nodiscard]] std::vector<UsageSource> SourcesOf(const quota::ResourceList& hard) const;
  // True if the evaluator owns a name of `hard`, considering the classes that are known.
  [[nodiscard]] bool OwnsAny(const quota::Evaluator& evaluator,
                             const quota::ResourceList& hard) const;
  // As WantedResources::CountsAny().
  [[nodiscard]] bool CountsAny(const quota::ResourceList& hard,
                               const std::set<api::GroupResource>& resources) const {
    return resources_.wanted().CountsAny(hard, resources);
  }
  // The watched resource; null if it is not watched, or is watched for a former evaluator.
  [[nodiscard]] const TrackedResource* Find(const api::GroupResource& resource) const {
    return resources_.wanted().Find(resource);
  }
  // True if some quota has a name that needs the resource.
  [[nodiscard]] bool Wants(const api::GroupResource& resource) const {
    const auto at = resources_.wanted().entries().find(resource);
    return at != resources_.wanted().entries().end() && at->second.names > 0;
  }
  // As ClassTracker::Of().
  [[nodiscard]] KnownClasses ClassesOf(const api::GroupResource& resource) const {
    return classes_.Of(resource);
  }
  // The data that completes the facts of the evaluator's objects. Valid until the next suspension.
  [[nodiscard]] quota::Beside BesideOf(const quota::Evaluator& evaluator) const;
  // As ClassTracker::WhyUnknown().
  [[nodiscard]] base::Error WhyUnknown(const quota::Evaluator& evaluator) const {
    return classes_.WhyUnknown(evaluator);
  }
  // The evaluators of resources that quotas name and the server serves. Valid until the next
  // suspension.
  [[nodiscard]] std::vector<const quota::Evaluator*> Constrained() const;
  // True if a scope of the selector belongs to a definition, and there is none that has it. Nobody
  // can tell then which objects match.
  [[nodiscard]] bool LacksScope(const quota::ScopeSelector& selector) const;
  // What the quotas limit.
  [[nodiscard]] const QuotaLimits& limits() const { return limits_; }
  // The resources that are watched now.
  [[nodiscard]] std::vector<std::shared_ptr<TrackedResource>> Watched() const {
    return resources_.wanted().Watched();
  }
  // Those of them that are resynced for this quota API. A resource that several use is resynced for
  // the one that has used it for longest.
  [[nodiscard]] std::vector<std::shared_ptr<TrackedResource>> Resynced() const;
  // Lists everything again, because the server was restored to an earlier state.
  void Relist();
  // As TrackedResource::Await(), for a resource by its name.
  void Await(std::string_view resource, const std::string& version);
  // True if every wanted resource is synced, failed, or not served, and so are the classes.
  [[nodiscard]] bool Settled() const { return classes_.Settled() && resources_.Settled(); }

  // Starts and stops watches until cancelled. Then stops all.
  base::Task<void> Run();

 private:
  void WantByClasses();
  // True if a resource, or classes, that became wanted after `since` are not watched, or their
  // watch gets a 404, so they may be deleted or moved to another version.
  [[nodiscard]] bool AnyUnresolved(base::TimePoint since = base::TimePoint::min()) const {
    return classes_.AnyUnresolved(since) || resources_.AnyUnresolved(since);
  }
  [[nodiscard]] bool IsLookDue() const;
  // Asks what the server serves.
  base::Task<void> Rediscover();
  void StartServed();

  const base::Clock& clock_;
  const quota::QuotaApi& api_;
  ServedResources& served_;
  SharedResources& shared_;
  UsageListener& listener_;
  std::unique_ptr<base::Alarm> changed_;
  QuotaLimits limits_;
  ClassTracker classes_;
  ResourceTracker resources_;
  base::TimePoint last_discovery_{};
};

}  // namespace controllers
