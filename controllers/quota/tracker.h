#pragma once

// Which resources are watched: those that some quota of this quota API names, as soon as the server
// serves them, and no others. A resource that no quota names any more is dropped after a while; one
// whose version is no longer served is watched in another.
//
// Nobody tells when a kind comes, changes or goes, so discovery is asked now and then: seldom while
// all is well, often while a named resource is missing or not found where it was.
//
// Single-threaded. Run() must have returned before it is destroyed.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "controllers/quota/class_tracker.h"
#include "controllers/quota/limited_namespaces.h"
#include "controllers/quota/served_resources.h"
#include "controllers/quota/tracked_resource.h"
#include "pkg/quota/quota.h"

namespace controllers {

struct TrackerOptions {
  std::chrono::milliseconds rediscover_wanted{1'000};  // while a named resource is missing
  std::chrono::milliseconds rediscover_idle{30'000};
  std::chrono::milliseconds keep_unneeded{60'000};  // a quota may be deleted and created again
  bool by_namespace = false;                        // NamespacesOf() is asked for
};

// One evaluator that answers for some names of a quota. One whose classes are not known yet may
// stand there twice: not watched, for the names that would then perhaps be its own.
struct UsageSource {
  const quota::Evaluator* evaluator = nullptr;
  std::vector<std::string> names;              // never empty
  api::GroupResource resource;                 // what has to be listed for them
  const quota::ClassTable* classes = nullptr;  // that it reads, if they are known
  const TrackedResource* tracked = nullptr;    // null: not watched (yet)
  base::TimePoint wanted_since{};
  bool known_absent = false;  // the server answered, and does not serve it as far as it can say
  std::optional<base::Error> trouble = {};  // why it cannot be listed or watched
};

class Tracker {
 public:
  // `api`, `served` and `listener` outlive the tracker.
  Tracker(TrackingContext context, const quota::QuotaApi& api, ServedResources& served,
          UsageListener& listener, TrackerOptions options = {});

  // The names in use changed: a quota came, changed or went (as QuotaListener::OnQuota).
  void OnQuota(const quota::Quota* before, const quota::Quota* after);
  // The namespace belongs to these groups (Ledger::SetGroups), in each ledger that is or will be.
  void SetGroups(std::string_view ns, std::vector<std::string> groups);
  // The state of a watched resource changed (as UsageListener::OnResourceState).
  void OnResourceState();
  // The evaluators that own names of `hard`. Valid until the next suspension.
  [[nodiscard]] std::vector<UsageSource> SourcesOf(const quota::ResourceList& hard) const;
  // The names of `hard` that the evaluator owns, by what is known of its classes.
  [[nodiscard]] std::vector<std::string> OwnedNames(const quota::Evaluator& evaluator,
                                                    const quota::ResourceList& hard) const;
  // What is watched for this resource; null if it is not.
  [[nodiscard]] const TrackedResource* Find(const api::GroupResource& resource) const;
  // What the facts of the evaluator's objects leave open. Valid until the next suspension.
  [[nodiscard]] quota::Beside BesideOf(const quota::Evaluator& evaluator) const;
  // The evaluators of what quotas name and the server serves. Valid until the next suspension.
  [[nodiscard]] std::vector<const quota::Evaluator*> Constrained() const;
  // False: any namespace may be limited.
  [[nodiscard]] bool limits_by_namespace() const { return options_.by_namespace; }
  // The namespaces whose quotas name something of this resource. Empty unless `by_namespace`.
  [[nodiscard]] const LimitedNamespaces::Counts& NamespacesOf(
      const api::GroupResource& resource) const {
    return namespaces_.Of(resource);
  }
  // The resources being watched now.
  [[nodiscard]] std::vector<std::shared_ptr<TrackedResource>> Watched() const;
  // Lists everything again: the server was put back to an earlier state.
  void Relist();
  // True if every wanted resource is synced, in trouble, or not served.
  [[nodiscard]] bool Settled() const;

  // Starts and stops watches until cancelled; then stops all.
  base::Task<void> Run();

 private:
  struct Wanted {
    quota::Evaluator evaluator;
    std::size_t quotas = 0;  // that name it
    base::TimePoint since{};
    base::TimePoint unneeded_since{};  // when `quotas` fell to zero
    bool known_absent = false;
    std::shared_ptr<TrackedResource> tracked;
  };

  [[nodiscard]] std::map<api::GroupResource, quota::Evaluator> EvaluatorsFor(
      const quota::ResourceList& hard) const;
  // The resources of these, and of those whose classes may make a name of `hard` theirs.
  [[nodiscard]] std::set<api::GroupResource> LimitedBy(const quota::ResourceList& hard) const;
  void CountNamespaces(const quota::Quota* before, const quota::Quota* after);
  void Want(const quota::Evaluator& evaluator);
  void Unwant(const api::GroupResource& resource);
  void WantByClasses();
  [[nodiscard]] static bool IsUnresolved(const Wanted& wanted);
  [[nodiscard]] bool AnyUnresolved() const;
  [[nodiscard]] bool IsLookDue() const;
  base::Task<void> Rediscover();
  void NoticeMissing();
  void StartServed();
  base::Task<void> StopUnneeded();
  base::Task<void> StopAll();
  // In the version that the evaluator reads.
  [[nodiscard]] std::optional<api::GroupVersionResource> ServedFor(
      const quota::Evaluator& evaluator) const;
  [[nodiscard]] bool MustMove(const TrackedResource& tracked) const;
  [[nodiscard]] base::TimePoint NextLook() const;

  TrackingContext context_;
  const quota::QuotaApi& api_;
  ServedResources& served_;
  UsageListener& listener_;
  TrackerOptions options_;
  std::map<api::GroupResource, Wanted> wanted_;
  LimitedNamespaces namespaces_;
  std::map<std::string, std::vector<std::string>, std::less<>> groups_;  // by namespace
  ClassTracker classes_;
  std::set<api::GroupResource> wanted_by_classes_;  // counted in Wanted::quotas, too
  std::unique_ptr<base::Alarm> changed_;
  base::TimePoint last_discovery_{};
};

}  // namespace controllers
