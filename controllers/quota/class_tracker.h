#pragma once

// Which classes are watched: those that concern a name some quota has, as soon as the server serves
// them, and no others; and what is known of them.
//
// Where the classes are kinds, nothing is watched: what discovery last said is the table.
//
// A server that does not serve a class resource has no such classes: that is knowledge, not
// trouble, and is not asked about more often than anything else. What cannot be listed is unknown.
//
// Part of a Tracker, which calls it from its own loop. Single-threaded.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controllers/quota/class_watch.h"
#include "controllers/quota/served_resources.h"
#include "pkg/quota/quota.h"

namespace controllers {

// What is known of the classes that an evaluator reads.
struct KnownClasses {
  const quota::ClassTable* table = nullptr;  // null: not known
  base::TimePoint wanted_since{};
  bool unsaid = false;                      // the server cannot say whether it serves them
  std::optional<base::Error> trouble = {};  // why they cannot be listed or watched
};

class ClassTracker {
 public:
  using Listener = std::function<void(const quota::Evaluator& evaluator)>;
  using ChangeListener =
      std::function<void(const quota::Evaluator& evaluator, const std::string& name)>;

  // `api` and `served` outlive it. The listeners are told of each change of what Of() answers, and
  // of each class that came, changed or went.
  ClassTracker(TrackingContext context, const quota::QuotaApi& api, ServedResources& served,
               base::Duration keep_unneeded, Listener on_state, ChangeListener on_change);

  // As Tracker::OnQuota. True if there is something to start, or to stop later.
  bool OnQuota(const quota::Quota* before, const quota::Quota* after);

  // Of the classes that the evaluator for this resource reads; nothing if it reads none, or no
  // quota's names need them. Valid until the next suspension.
  [[nodiscard]] KnownClasses Of(const api::GroupResource& resource) const;
  // The resources of those count/… names whose kinds are not known to be served, with the names.
  // Empty for an evaluator whose classes are no kinds.
  [[nodiscard]] std::map<api::GroupResource, std::vector<std::string>> WithoutKind(
      const quota::Evaluator& evaluator, const std::vector<std::string>& names) const;
  // True if some quota has a name that is the evaluator's on account of its classes.
  [[nodiscard]] bool GiveNames(const quota::Evaluator& evaluator) const;
  // True unless something that is needed may still be found or listed.
  [[nodiscard]] bool Settled() const;
  // True while something that is needed is neither watched nor known to be absent, of what is
  // needed since later than `since`.
  [[nodiscard]] bool AnyUnresolved(base::TimePoint since = base::TimePoint::min()) const;
  // When something unneeded may be dropped; `latest` if nothing before that.
  [[nodiscard]] base::TimePoint NextDrop(base::TimePoint latest) const;

  // By what is known of the server: starts what it serves, and notices what it does not.
  void StartServed();
  base::Task<void> StopUnneeded();
  base::Task<void> StopAll();
  // Lists all classes again.
  void Relist();

 private:
  struct Wanted {
    const quota::Evaluator* evaluator = nullptr;
    std::map<std::string, std::size_t> names;  // that classes concern → quotas with it
    base::TimePoint since{};
    base::TimePoint unneeded_since{};
    bool absent = false;  // the server does not serve them
    bool unsaid = false;  // the server cannot say whether it does
    std::shared_ptr<ClassWatch> watch;
    quota::ClassTable none;                  // of a server that does not serve them
    std::optional<quota::ClassTable> kinds;  // where the classes are kinds, once they are known
    std::uint64_t generation = 0;            // of what the server serves, that they are from
  };
  void LearnKinds(Wanted& wanted);
  [[nodiscard]] bool LacksKind(const Wanted& wanted) const;
  void NoticeMissing();
  bool Count(const quota::Evaluator& evaluator, const quota::ResourceList& hard, bool more);
  void Start(Wanted& wanted, api::GroupVersionResource resource);
  [[nodiscard]] bool MustStop(const Wanted& wanted) const;

  TrackingContext context_;
  const quota::QuotaApi& api_;
  ServedResources& served_;
  base::Duration keep_unneeded_;
  Listener on_state_;
  ChangeListener on_change_;
  std::map<api::GroupResource, Wanted> wanted_;  // by the evaluator's resource
};

}  // namespace controllers
