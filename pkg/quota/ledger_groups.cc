#include "pkg/quota/ledger_groups.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "pkg/quota/ledger_state.h"

namespace quota {
namespace {

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
  if (set == nullptr) return;
  CHECK_GT(set->namespaces, 0U) << "groups are released more often than acquired";
  if (--set->namespaces > 0) return;
  for (const std::string& name : *set->names) {
    const auto group = groups_.find(name);
    CHECK(group != groups_.end() && group->second.sets > 0) << "no set has the group " << name;
    if (--group->second.sets > 0) continue;
    const NamespaceGroup& last = group->second;
    CHECK(last.contents.empty() && last.unreadable.empty())
        << "the group " << name << " counts objects of no namespace";
    groups_.erase(group);
  }
  // By iterator: `names` points to the key of the entry that is erased.
  const auto entry = sets_.find(*set->names);
  CHECK(entry != sets_.end() && &entry->second == set) << "groups of another table";
  sets_.erase(entry);
}

NamespaceGroup* GroupTable::Find(std::string_view name) {
  const auto group = groups_.find(name);
  return group == groups_.end() ? nullptr : &group->second;
}

void GroupTable::Keep(std::string_view ns, GroupSet* set) {
  const bool kept = set == nullptr || empty_.emplace(ns, set).second;
  CHECK(kept) << "the namespace " << ns << " without objects has groups already";
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
    group.contents.Clear();
    group.unreadable.clear();
  }
}

void Join(Namespace& space) {
  if (space.groups == nullptr) return;
  const FactsPool& pool = space.pool;
  for (NamespaceGroup* group : space.groups->groups) {
    Contents& all = group->contents;
    for (const auto& [facts, objects] : space.contents.counts()) all.Add(pool, facts, objects);
    for (const auto& [pair, objects] : space.contents.shared()) all.AddShared(pool, pair, objects);
    all.AddUnknown(space.contents.unknown());
  }
  NoteUnreadable(space);
}

void Leave(Namespace& space) {
  if (space.groups == nullptr) return;
  const FactsPool& pool = space.pool;
  for (NamespaceGroup* group : space.groups->groups) {
    Contents& all = group->contents;
    for (const auto& [facts, objects] : space.contents.counts()) all.Subtract(pool, facts, objects);
    for (const auto& [pair, objects] : space.contents.shared()) {
      all.SubtractShared(pool, pair, objects);
    }
    all.AddUnknown(-space.contents.unknown());
    group->unreadable.erase(&space);
  }
}

void Recount(Namespace& space, FactsId before, FactsId after) {
  if (before == after) return;
  const auto recount = [&](Contents& contents) {
    // kUnknown and kNoObject are the largest values: all below are facts ids.
    if (after < kUnknown) contents.Add(space.pool, after, 1);
    if (before < kUnknown) contents.Subtract(space.pool, before, 1);
    if (after == kUnknown) contents.AddUnknown(1);
    if (before == kUnknown) contents.AddUnknown(-1);
  };
  recount(space.contents);
  if (space.groups == nullptr) return;
  for (NamespaceGroup* group : space.groups->groups) recount(group->contents);
}

void NoteUnreadable(Namespace& space) {
  if (space.groups == nullptr) return;
  for (NamespaceGroup* group : space.groups->groups) {
    Note(group->unreadable, space, !space.why.empty());
  }
}

void RecountShared(Namespace& space, const Ties::Pair& pair, bool more) {
  const auto recount = [&](Contents& contents) {
    if (more) {
      contents.AddShared(space.pool, pair, 1);
    } else {
      contents.SubtractShared(space.pool, pair, 1);
    }
  };
  recount(space.contents);
  if (space.groups == nullptr) return;
  for (NamespaceGroup* group : space.groups->groups) recount(group->contents);
}

}  // namespace quota
