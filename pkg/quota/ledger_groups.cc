#include "pkg/quota/ledger_groups.h"

#include <algorithm>
#include <utility>

#include "pkg/quota/ledger_state.h"

namespace quota {
namespace {

void Add(FactsCounts& counts, FactsId facts, std::size_t objects) { counts[facts] += objects; }

void Subtract(FactsCounts& counts, FactsId facts, std::size_t objects) {
  const auto count = counts.find(facts);
  if ((count->second -= objects) == 0) counts.erase(count);
}

void Note(Namespaces& namespaces, Namespace& space, bool belongs) {
  if (belongs) {
    namespaces.insert(&space);
  } else {
    namespaces.erase(&space);
  }
}

}  // namespace

bool NamespaceOrder::operator()(const Namespace* a, const Namespace* b) const {
  return a->name < b->name;
}

GroupSet* GroupTable::Acquire(std::vector<std::string> names) {
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (names.empty()) return nullptr;
  const auto [entry, added] = sets_.try_emplace(std::move(names));
  GroupSet& set = entry->second;
  ++set.namespaces;
  if (!added) return &set;
  set.names = &entry->first;
  for (const std::string& name : entry->first) {
    set.groups.push_back(&groups_[name]);
    ++set.groups.back()->sets;
  }
  return &set;
}

void GroupTable::Release(GroupSet* set) {
  if (set == nullptr || --set->namespaces > 0) return;
  for (const std::string& name : *set->names) {
    const auto group = groups_.find(name);
    if (--group->second.sets == 0) groups_.erase(group);
  }
  sets_.erase(sets_.find(*set->names));
}

const NamespaceGroup* GroupTable::Find(std::string_view name) const {
  const auto group = groups_.find(name);
  return group == groups_.end() ? nullptr : &group->second;
}

void GroupTable::Keep(std::string_view ns, GroupSet* set) {
  if (set != nullptr) empty_.emplace(ns, set);
}

GroupSet* GroupTable::Take(std::string_view ns) {
  if (empty_.empty()) return nullptr;
  const auto kept = empty_.find(ns);
  if (kept == empty_.end()) return nullptr;
  GroupSet* const set = kept->second;
  empty_.erase(kept);
  return set;
}

void GroupTable::ForgetObjects() {
  for (auto& [name, group] : groups_) {
    group.counts.clear();
    group.unreadable.clear();
    group.tied.clear();
  }
}

void Join(Namespace& space) {
  if (space.groups == nullptr) return;
  for (NamespaceGroup* group : space.groups->groups) {
    for (const auto& [facts, objects] : space.counts) Add(group->counts, facts, objects);
  }
  NoteUnreadable(space);
  NoteTied(space);
}

void Leave(Namespace& space) {
  if (space.groups == nullptr) return;
  for (NamespaceGroup* group : space.groups->groups) {
    for (const auto& [facts, objects] : space.counts) Subtract(group->counts, facts, objects);
    group->unreadable.erase(&space);
    group->tied.erase(&space);
  }
}

void Recount(Namespace& space, FactsId before, FactsId after) {
  if (space.groups == nullptr || before == after) return;
  for (NamespaceGroup* group : space.groups->groups) {
    if (after < kUnknown) Add(group->counts, after, 1);
    if (before < kUnknown) Subtract(group->counts, before, 1);
  }
}

void NoteUnreadable(Namespace& space) {
  if (space.groups == nullptr) return;
  for (NamespaceGroup* group : space.groups->groups) {
    Note(group->unreadable, space, !space.why.empty());
  }
}

void NoteTied(Namespace& space) {
  if (space.groups == nullptr) return;
  for (NamespaceGroup* group : space.groups->groups) {
    Note(group->tied, space, space.ties.AnyOwned());
  }
}

}  // namespace quota
