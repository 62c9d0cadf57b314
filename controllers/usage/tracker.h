#pragma once

// Decides which resources are watched: those that a quota of this quota API names, as soon as the
// server serves them (controllers/quota/DESIGN.md, "When kinds appear or disappear"). A resource
// that no quota names any more is dropped after a while.
//
// Single-threaded. Run() must have returned before it is destroyed.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "controllers/usage/class_tracker.h"
#include "controllers/usage/served_resources.h"
#include "controllers/usage/shared_resources.h"
#include "controllers/usage/tracked_resource.h"
#include "controllers/usage/wanted_resources.h"
#include "pkg/quota/quota.h"

namespace controllers {

// One evaluator that counts some names of a quota. While its classes are unknown there may be a
// second, unwatched source, for the names that it may own because of its classes.
struct UsageSource {
  const quota::Evaluator* evaluator = nullptr;
  std::vector<std::string> names;              // never empty
  api::GroupResource resource;                 // the resource to list for them
  const quota::ClassTable* classes = nullptr;  // the classes that it reads; null if unknown
  const TrackedResource* tracked = nullptr;    // null: not watched (yet)
  base::TimePoint wanted_since{};
  bool known_absent = false;  // the server answered, and does not serve it as far as is known
  std::optional<base::Error> trouble = {};  // why it cannot be listed or watched
  // As ReflectorState::forbidden. Such a name that was never counted is not in force.
  bool forbidden = false;
};

// The namespaces with quotas that have a name which an evaluator owns, or may own because of its
// classes, and the number of these quotas.
using LimitedNamespaces = std::map<std::string, std::size_t>;

class Tracker {
 public:
  // `api`, `served`, `shared` and `listener` must outlive the tracker. The listener calls
  // OnResourceState() and OnClasses(). `by_namespace`: NamespacesOf() is used.
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
  void SetGroups(std::string_view ns, std::vector<std::string> groups);
  // As UsageListener::OnResourceState().
  void OnResourceState();
  // As UsageListener::OnClassChange() and OnClassState(): evaluators may own other names.
  void OnClasses();
  // The evaluators that own names of `hard`. Valid until the next suspension.
  [[nodiscard]] std::vector<UsageSource> SourcesOf(const quota::ResourceList& hard) const;
  // True if the evaluator owns a name of `hard`, considering the classes that are known.
  [[nodiscard]] bool OwnsAny(const quota::Evaluator& evaluator,
                             const quota::ResourceList& hard) const;
  // The watched resource; null if it is not watched, or is watched for a former evaluator.
  [[nodiscard]] const TrackedResource* Find(const api::GroupResource& resource) const;
  // The data that completes the facts of the evaluator's objects. Valid until the next suspension.
  [[nodiscard]] quota::Beside BesideOf(const quota::Evaluator& evaluator) const;
  // Why the classes that the evaluator reads are not known, for objects that have any.
  [[nodiscard]] base::Error WhyUnknown(const quota::Evaluator& evaluator) const;
  // The evaluators of resources that quotas name and the server serves. Valid until the next
  // suspension.
  [[nodiscard]] std::vector<const quota::Evaluator*> Constrained() const;
  // True if a scope of the selector belongs to a definition, and there is none that has it. Nobody
  // can tell then which objects match.
  [[nodiscard]] bool LacksScope(const quota::ScopeSelector& selector) const;
  // The namespaces in which quotas limit the resource. Empty unless `by_namespace`. Valid until the
  // next OnQuota().
  [[nodiscard]] const LimitedNamespaces& NamespacesOf(const api::GroupResource& resource) const;
  // The resources of the evaluators of `hard`, and of evaluators that may own a name of `hard`
  // because of their classes.
  [[nodiscard]] std::set<api::GroupResource> LimitedBy(const quota::ResourceList& hard) const;
  // The resources that are watched now.
  [[nodiscard]] std::vector<std::shared_ptr<TrackedResource>> Watched() const;
  // Those of them that are resynced for this quota API. A resource that several use is resynced for
  // the one that has used it for longest.
  [[nodiscard]] std::vector<std::shared_ptr<TrackedResource>> Resynced() const;
  // Lists everything again, because the server was restored to an earlier state.
  void Relist();
  // As TrackedResource::Await(), for a resource by its name.
  void Await(std::string_view resource, const std::string& version);
  // True if every wanted resource is synced, failed, or not served.
  [[nodiscard]] bool Settled() const;

  // Starts and stops watches until cancelled. Then stops all.
  base::Task<void> Run();

 private:
  [[nodiscard]] bool Counts(const quota::Evaluator& evaluator, const std::string& name) const;
  // The resource whose objects a count/… name counts.
  [[nodiscard]] std::optional<api::GroupResource> CountedResource(const std::string& name) const;
  // Those that own the name, and the one that counts the objects of a count/… name.
  [[nodiscard]] std::vector<SharedEvaluator> EvaluatorsOf(const std::string& name) const;
  void Limit(const quota::Quota& quota);
  void Unlimit(const quota::Quota& quota);
  // The classes by which the evaluator may own further names; null if there are none.
  [[nodiscard]] const quota::ClassTable* OwningClasses(const quota::Evaluator& evaluator) const;
  [[nodiscard]] bool IsLimitedBy(const quota::Evaluator* evaluator,
                                 const quota::ResourceList& hard) const;
  void UnlimitIn(const api::GroupResource& resource, const std::string& ns);
  void WantByClasses();
  // True if a resource, or classes, that became wanted after `since` are not watched, or their
  // watch gets a 404, so they may be deleted or moved to another version.
  [[nodiscard]] bool AnyUnresolved(base::TimePoint since = base::TimePoint::min()) const;
  [[nodiscard]] bool IsLookDue() const;
  // Asks what the server serves.
  base::Task<void> Rediscover();
  void StartServed();
  std::shared_ptr<TrackedResource> Leave(Wanted& wanted);
  base::Task<void> StopUnneeded();
  base::Task<void> StopAll();
  // The version that the evaluator reads.
  [[nodiscard]] std::optional<api::GroupVersionResource> ServedFor(
      const quota::Evaluator& evaluator) const;
  [[nodiscard]] base::TimePoint NextLook() const;

  TrackingContext context_;
  const quota::QuotaApi& api_;
  ServedResources& served_;
  SharedResources& shared_;
  UsageListener& listener_;
  bool by_namespace_;
  std::unique_ptr<base::Alarm> changed_;
  WantedResources wanted_;
  LimitedCounts names_;
  std::map<api::GroupResource, LimitedNamespaces> namespaces_;
  std::map<std::string, std::vector<std::string>, std::less<>> groups_;  // by namespace
  ClassTracker classes_;
  std::set<api::GroupResource> wanted_by_classes_;  // also counted in Wanted::names
  base::TimePoint last_discovery_{};
};

}  // namespace controllers
