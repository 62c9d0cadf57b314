#include "controllers/usage/wanted_resources.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

namespace controllers {

void WantedResources::Add(const SharedEvaluator& evaluator) {
  const auto [entry, added] = entries_.try_emplace(evaluator->resource);
  Wanted& wanted = entry->second;
  if (added) {
    wanted.evaluator = evaluator;
    ++changes_;
  }
  if (wanted.names++ > 0 || wanted.tracked != nullptr) return;
  wanted.since = clock_.Now();
  changed_.Wake();
}

void WantedResources::Remove(const api::GroupResource& resource) {
  const auto entry = entries_.find(resource);
  CHECK(entry != entries_.end() && entry->second.names > 0)
      << resource.ToString() << " is wanted for no name";
  if (--entry->second.names > 0) return;
  entry->second.unneeded_since = clock_.Now();
  changed_.Wake();
}

void WantedResources::AddByClasses(const SharedEvaluator& evaluator) {
  const auto entry = entries_.find(evaluator->resource);
  if (entry != entries_.end() && entry->second.by_classes) return;
  Add(evaluator);
  entries_.at(evaluator->resource).by_classes = true;
}

void WantedResources::RemoveByClasses(const api::GroupResource& resource) {
  const auto entry = entries_.find(resource);
  if (entry == entries_.end() || !std::exchange(entry->second.by_classes, false)) return;
  Remove(resource);
}

void WantedResources::Replace(const SharedEvaluator& evaluator) {
  const auto entry = entries_.find(evaluator->resource);
  if (entry == entries_.end()) return;
  entry->second.evaluator = evaluator;
  entry->second.since = clock_.Now();
  ++changes_;
}

WantedResources::Entries::iterator WantedResources::Erase(Entries::iterator entry) {
  const Wanted& wanted = entry->second;
  CHECK(wanted.names == 0 && !wanted.by_classes) << entry->first.ToString() << " is wanted";
  CHECK(wanted.tracked == nullptr) << entry->first.ToString() << " is watched";
  ++changes_;
  return entries_.erase(entry);
}

const TrackedResource* WantedResources::Find(const api::GroupResource& resource) const {
  const auto at = entries_.find(resource);
  return at == entries_.end() ? nullptr : at->second.current();
}

std::vector<std::shared_ptr<TrackedResource>> WantedResources::Watched() const {
  std::vector<std::shared_ptr<TrackedResource>> watched;
  for (const auto& [resource, wanted] : entries_) {
    if (wanted.tracked) watched.push_back(wanted.tracked);
  }
  return watched;
}

// A quota can name thousands of kinds that are only counted, so their entries are looked up, and
// only the evaluators of the quota API are asked.
WantedResources::Candidates WantedResources::FindCandidates(const std::string& name) const {
  Candidates candidates;
  const auto add = [&](const api::GroupResource& resource, bool by_class) {
    const auto entry = entries_.find(resource);
    if (entry == entries_.end()) return;
    if (by_class || entry->second.evaluator->owns(name)) candidates.owners.push_back(&*entry);
  };
  const auto& evaluators = api_.evaluators.shared();
  for (std::size_t i = 0; i < evaluators.size(); ++i) {
    const auto& classes = evaluators[i]->classes;
    const bool concerns = classes && classes->concerns(name);
    if (concerns) candidates.by_class.push_back(i);
    add(evaluators[i]->resource, concerns && classes->owns);
  }
  const auto counted = api_.counted_resource ? api_.counted_resource(name) : std::nullopt;
  if (counted && api_.evaluators.Find(*counted) == nullptr) add(*counted, false);
  return candidates;
}

const WantedResources::Candidates& WantedResources::CandidatesFor(const std::string& name) const {
  const Changes now{changes_, api_.evaluators.changes()};
  const bool outdated = std::exchange(candidates_as_of_, now) != now;
  if (outdated || candidates_.size() >= kMostNames) candidates_.clear();
  const auto known = candidates_.find(name);
  if (known != candidates_.end()) return known->second;
  return candidates_.emplace(name, FindCandidates(name)).first->second;
}

WantedResources::Concerned WantedResources::ConcernedBy(const quota::ResourceList& hard) const {
  Concerned concerned;
  for (const auto& [name, limit] : hard) {
    const Candidates& candidates = CandidatesFor(name);
    for (const Entry* const entry : candidates.owners) concerned.owners[entry].push_back(name);
    for (const std::size_t at : candidates.by_class) concerned.by_class[at].push_back(name);
  }
  return concerned;
}

bool WantedResources::CountsAny(const quota::ResourceList& hard,
                                const std::set<api::GroupResource>& resources) const {
  const auto is_any = [&](const Entry* entry) { return resources.contains(entry->first); };
  return !resources.empty() && std::ranges::any_of(hard, [&](const auto& limit) {
    return std::ranges::any_of(CandidatesFor(limit.first).owners, is_any);
  });
}

}  // namespace controllers
