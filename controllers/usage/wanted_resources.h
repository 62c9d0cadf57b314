#pragma once

// The resources that quotas of one quota API name, each with the evaluator that counts its objects,
// and the evaluators that may count under a name. No I/O; one thread.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controllers/usage/quota_limits.h"
#include "controllers/usage/tracked_resource.h"
#include "pkg/quota/quota.h"

namespace controllers {

struct Wanted {
  SharedEvaluator evaluator;
  // The resource as this evaluator counts it; null if it is not watched so (yet).
  [[nodiscard]] const TrackedResource* current() const {
    const bool same = tracked && tracked->evaluator().revision == evaluator->revision;
    return same ? tracked.get() : nullptr;
  }
  std::size_t names = 0;    // the limited names that need it; one more if classes do
  bool by_classes = false;  // they do: it owns a name because of them, or may own one
  base::TimePoint since{};
  base::TimePoint unneeded_since{};  // when `names` fell to zero
  bool known_absent = false;
  std::shared_ptr<TrackedResource> tracked;
};

class WantedResources {
 public:
  using Entries = std::map<api::GroupResource, Wanted>;
  using Entry = Entries::value_type;
  // In the order of the entries.
  struct ByResource {
    bool operator()(const Entry* a, const Entry* b) const { return a->first < b->first; }
  };
  // What may count under the names of a quota, each with those names, sorted.
  struct Concerned {
    using Names = std::vector<std::string>;
    // Their evaluators own the names, or may because of classes.
    std::map<const Entry*, Names, ByResource> owners;
    // By position, the evaluators of the quota API whose classes concern the names.
    std::map<std::size_t, Names> by_class;
  };

  // `changed` is woken when something must be watched, or dropped after a while. All references
  // must outlive it.
  WantedResources(const quota::QuotaApi& api, const base::Clock& clock, base::Alarm& changed)
      : api_(api), clock_(clock), changed_(changed) {}

  [[nodiscard]] Entries& entries() { return entries_; }
  [[nodiscard]] const Entries& entries() const { return entries_; }

  // One more name needs the resource of this evaluator.
  void Add(const SharedEvaluator& evaluator);
  // One less. After the last one the entry stays. REQUIRES: Add() was called.
  void Remove(const api::GroupResource& resource);
  // The evaluator owns a limited name because of its classes, or may own one; or not any more.
  void AddByClasses(const SharedEvaluator& evaluator);
  void RemoveByClasses(const api::GroupResource& resource);
  // If the resource is wanted, its objects are counted by this evaluator from now on.
  void Replace(const SharedEvaluator& evaluator);
  // Returns the entry after the erased one.
  Entries::iterator Erase(Entries::iterator entry);

  // The watched resource; null if it is not watched, or is watched for a former evaluator.
  [[nodiscard]] const TrackedResource* Find(const api::GroupResource& resource) const;
  // The resources that are watched now, by name.
  [[nodiscard]] std::vector<std::shared_ptr<TrackedResource>> Watched() const;
  // Valid until the next change of the entries, or of the evaluators of the quota API.
  [[nodiscard]] Concerned ConcernedBy(const quota::ResourceList& hard) const;
  // True if any of these resources may count under a name of `hard`. Takes a look-up for each name,
  // however many resources there are.
  [[nodiscard]] bool CountsAny(const quota::ResourceList& hard,
                               const std::set<api::GroupResource>& resources) const;

 private:
  // What may count under one name.
  struct Candidates {
    std::vector<const Entry*> owners;
    std::vector<std::size_t> by_class;
  };
  [[nodiscard]] const Candidates& CandidatesFor(const std::string& name) const;
  [[nodiscard]] Candidates FindCandidates(const std::string& name) const;

  const quota::QuotaApi& api_;
  const base::Clock& clock_;
  base::Alarm& changed_;
  Entries entries_;
  std::uint64_t changes_ = 0;  // of the entries and their evaluators
  // What FindCandidates() returned after these changes. With hundreds of definitions, asking each
  // evaluator about each name takes longer than all else of a recount.
  static constexpr std::size_t kMostNames = 10'000;
  using Changes = std::pair<std::uint64_t, std::uint64_t>;  // and of the quota API's evaluators
  mutable std::map<std::string, Candidates> candidates_;
  mutable Changes candidates_as_of_{};
};

}  // namespace controllers
