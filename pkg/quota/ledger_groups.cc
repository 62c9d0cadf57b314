#include "pkg/quota/ledger_groups.h"

#include <algorithm>
#include <utility>

#include "pkg/quota/ledger_state.h"

namespace quota {
namespace {

template <typename Counts>
void Add(Counts& counts, const typename Counts::key_type& facts, std::size_t objects) {
  counts[facts] += objects;
}

template <typename Counts>
void Subtract(Counts& counts, const typename Counts::key_type& facts, std::size_t objects) {
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
  // Namespaces with the same groups share one set.
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
  // By iterator: `names` points to the key of the entry that is erased.
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
    group.shared.clear();
  }
}

void Join(Namespace& space) {
  if (space.groups == nullptr) return;
  for (NamespaceGroup* group : space.groups->groups) {
    for (const auto& [facts, objects] : space.counts) Add(group->counts, facts, objects);
    for (const auto& [pair, objects] : space.ties.pairs()) Add(group->shared, pair, objects);
  }
  NoteUnreadable(space);
}

void Leave(Namespace& space) {
  if (space.groups == nullptr) return;
  for (NamespaceGroup* group : space.groups->groups) {
    for (const auto& [facts, objects] : space.counts) Subtract(group->counts, facts, objects);
    for (const auto& [pair, objects] : space.ties.pairs()) Subtract(group->shared, pair, objects);
    group->unreadable.erase(&space);
  }
}

void Recount(Namespace& space, FactsId before, FactsId after) {
  if (space.groups == nullptr || before == after) return;
  for (NamespaceGroup* group : space.groups->groups) {
    // kUnknown and kNoObject are the largest values: all below are facts ids.
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

void RecountShared(Namespace& space, const Ties::Pair& pair, bool more) {
  if (space.groups == nullptr) return;
  for (NamespaceGroup* group : space.groups->groups) {
    if (more) {
      Add(group->shared, pair, 1);
    } else {
      Subtract(group->shared, pair, 1);
    }
  }
}

}  // namespace quota
