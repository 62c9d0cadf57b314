#include "controllers/usage/wanted_resources.h"

#include <glog/logging.h>

#include <algorithm>

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

WantedResources::Concerned WantedResources::FindConcerned(const std::string& name) const {
  Concerned concerned;
  for (const Entry& entry : entries_) {
    const quota::Evaluator& evaluator = *entry.second.evaluator;
    const bool may_by_class =
        evaluator.classes && evaluator.classes->owns && evaluator.classes->concerns(name);
    if (evaluator.owns(name) || may_by_class) concerned.owners.push_back(&entry);
  }
  const auto& evaluators = api_.evaluators.shared();
  for (std::size_t i = 0; i < evaluators.size(); ++i) {
    const auto& classes = evaluators[i]->classes;
    if (classes && classes->concerns(name)) concerned.by_class.push_back(i);
  }
  return concerned;
}

const WantedResources::Concerned& WantedResources::ConcernedBy(const std::string& name) const {
  const Changes now{changes_, api_.evaluators.changes()};
  const bool outdated = std::exchange(concerned_as_of_, now) != now;
  if (outdated || concerned_.size() >= kMostNames) concerned_.clear();
  const auto known = concerned_.find(name);
  if (known != concerned_.end()) return known->second;
  return concerned_.emplace(name, FindConcerned(name)).first->second;
}

WantedResources::Concerned WantedResources::ConcernedBy(const quota::ResourceList& hard) const {
  Concerned all;
  const auto add = [](auto& to, const auto& more) {
    for (const auto& one : more) {
      if (std::ranges::find(to, one) == to.end()) to.push_back(one);
    }
  };
  for (const auto& [name, limit] : hard) {
    const Concerned& concerned = ConcernedBy(name);
    add(all.owners, concerned.owners);
    add(all.by_class, concerned.by_class);
  }
  std::ranges::sort(
      all.owners, {}, [](const Entry* entry) -> const auto& { return entry->first; });
  std::ranges::sort(all.by_class);
  return all;
}

}  // namespace controllers
