#pragma once

// Decides which classes are watched, and keeps what is known of them. It watches the classes that
// affect a name of some quota, as soon as the server serves them, and no others.
//
// If the classes are kinds, nothing is watched: the last answer of discovery is the table. A server
// that does not serve a class resource has no such classes, which is known, and causes no more
// discovery than usual. Classes that cannot be listed are unknown.
//
// Part of a Tracker, which calls it from its own loop. Single-threaded.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "controllers/usage/class_watch.h"
#include "controllers/usage/quota_limits.h"
#include "controllers/usage/served_resources.h"
#include "controllers/usage/shared_resources.h"
#include "pkg/quota/quota.h"

namespace controllers {

// What is known of the classes that an evaluator reads.
struct KnownClasses {
  const quota::ClassTable* table = nullptr;  // null: unknown
  // As `table`, but during a relist or a failure the classes that were known before. Null: never
  // listed.
  const quota::ClassTable* last = nullptr;
  base::TimePoint wanted_since{};
  // discovery failed for their group, so it is unknown whether they are served
  bool unsaid = false;
  std::optional<base::Error> trouble = {};  // why they cannot be listed or watched
  bool wanted = false;                      // some quota has a name that they affect
  bool forbidden = false;                   // as ReflectorState::forbidden
};

// What no quota needs is dropped after this time: a quota may be deleted and created again.
inline constexpr std::chrono::minutes kKeepUnneeded{1};

class ClassTracker {
 public:
  // `api`, `served`, `shared` and `listener` must outlive it. The listener is told of classes only:
  // when the answer of Of() changes, and of each class that was added, changed or removed.
  ClassTracker(TrackingContext context, const quota::QuotaApi& api, ServedResources& served,
               SharedResources& shared, UsageListener& listener);

  // Some quota limits the name from now on, or none any more. Returns true if a watch should start,
  // or stop later.
  bool OnName(const std::string& name, bool limited);
  // As Tracker::OnEvaluator(). `names` are those that are limited.
  void OnEvaluator(const SharedEvaluator& before, const SharedEvaluator& after,
                   const LimitedCounts& names);

  // Returns the classes that the evaluator of this resource reads. Empty if it reads none, or if no
  // name of a quota needs them. Valid until the next suspension.
  [[nodiscard]] KnownClasses Of(const api::GroupResource& resource) const;
  // Those by which the evaluator may own further names; null if there are none, or they are
  // unknown.
  [[nodiscard]] const quota::ClassTable* OwningTable(const quota::Evaluator& evaluator) const;
  // Why the classes that the evaluator reads are not known, for objects that have any.
  [[nodiscard]] base::Error WhyUnknown(const quota::Evaluator& evaluator) const;
  // Returns the resources of the count/… names whose kinds are not known to be served, with these
  // names. Empty for an evaluator whose classes are not kinds.
  [[nodiscard]] std::map<api::GroupResource, std::vector<std::string>> WithoutKind(
      const quota::Evaluator& evaluator, const std::vector<std::string>& names) const;
  // True if some quota has a name that the evaluator owns because of its classes, or may own
  // because they cannot be listed.
  [[nodiscard]] bool GiveNames(const quota::Evaluator& evaluator) const;
  // False while classes that are needed may still be discovered or listed.
  [[nodiscard]] bool Settled() const;
  // True while classes that were needed after `since` are neither watched nor known to be absent.
  [[nodiscard]] bool AnyUnresolved(base::TimePoint since = base::TimePoint::min()) const;
  // When the next unneeded watch may be dropped, at most `latest`.
  [[nodiscard]] base::TimePoint NextDrop(base::TimePoint latest) const;

  // Starts watches for what the server is known to serve, and notes what it does not serve.
  void StartServed();
  base::Task<void> StopUnneeded();
  base::Task<void> StopAll();
  // Lists all classes again.
  void Relist();

 private:
  struct Wanted {
    SharedEvaluator evaluator;
    std::set<std::string> names;  // limited ones that are affected by classes
    base::TimePoint since{};
    base::TimePoint unneeded_since{};
    bool absent = false;  // the server does not serve the classes
    bool unsaid = false;  // discovery failed for their group
    std::shared_ptr<ClassWatch> watch;
    quota::ClassTable none;                  // the empty table, for a server without the classes
    std::optional<quota::ClassTable> kinds;  // if the classes are kinds, once known
    std::uint64_t generation = 0;            // of ServedResources, from which `kinds` was made
  };
  void LearnKinds(Wanted& wanted);
  bool Set(const SharedEvaluator& evaluator, const std::string& name, bool limited);
  static bool IsCurrent(const Wanted& wanted);
  // The version that is read.
  [[nodiscard]] std::optional<api::GroupVersionResource> ServedFor(
      const quota::ClassSource& classes) const {
    return served_.FindIn(classes.version, classes.resource, ResourceScope::kCluster);
  }
  [[nodiscard]] bool MustStop(const Wanted& wanted) const;

  TrackingContext context_;
  const quota::QuotaApi& api_;
  ServedResources& served_;
  SharedResources& shared_;
  UsageListener& listener_;
  std::map<api::GroupResource, Wanted> wanted_;  // by the evaluator's resource
};

}  // namespace controllers
