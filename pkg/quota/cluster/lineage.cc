#include "pkg/quota/cluster/lineage.h"

#include <glog/logging.h>

#include <utility>
#include <vector>

namespace quota {

bool Lineage::ByName::operator()(const Member* a, const Member* b) const {
  return a->name < b->name;
}

const Lineage::Member& Lineage::Put(std::string_view name, std::string_view parent, Moved& moved) {
  const auto [found, added] = members_.try_emplace(std::string(name), Member{std::string(name)});
  Member& member = found->second;
  if (!added && member.parent == parent) return member;
  moved.insert(member.name);
  if (!added) Cut(member, moved);
  member.parent = parent;
  if (added) {
    // Members that named it before it existed.
    if (const auto waiting = naming_.find(name); waiting != naming_.end()) {
      for (Member* child : waiting->second) Attach(*child, &member, Fault::kNone, moved);
    }
  }
  Link(member, moved);
  return member;
}

void Lineage::Remove(std::string_view name, Moved& moved) {
  const auto found = members_.find(name);
  if (found == members_.end()) return;
  Member& member = found->second;
  Cut(member, moved);
  if (const auto children = naming_.find(name); children != naming_.end()) {
    for (Member* child : children->second) {
      Attach(*child, nullptr, Fault::kParentNotFound, moved);
    }
  }
  CHECK(member.up == nullptr && member.below.empty()) << name << " is removed within the tree";
  members_.erase(found);
}

const Lineage::Member* Lineage::Find(std::string_view name) const {
  const auto found = members_.find(name);
  return found == members_.end() ? nullptr : &found->second;
}

Lineage::Member* Lineage::Named(std::string_view name) {
  const auto found = members_.find(name);
  return found == members_.end() ? nullptr : &found->second;
}

void Lineage::Cut(Member& member, Moved& moved) {
  if (member.parent.empty()) return;
  // Without this member its cycle is a way up that ends at it, so the others get their parents.
  if (member.fault == Fault::kParentCycle) {
    std::vector<Member*> cycle;
    for (Member* at = Named(member.parent); at != &member; at = Named(at->parent)) {
      CHECK(at != nullptr) << "the cycle of " << member.name << " ends";
      cycle.push_back(at);
    }
    for (auto at = cycle.rbegin(); at != cycle.rend(); ++at) {
      Attach(**at, Named((*at)->parent), Fault::kNone, moved);
    }
  }
  Attach(member, nullptr, Fault::kNone, moved);
  const auto named = naming_.find(member.parent);
  CHECK(named != naming_.end() && named->second.erase(&member) == 1)
      << member.name << " is not among those that name " << member.parent;
  if (named->second.empty()) naming_.erase(named);
}

void Lineage::Link(Member& member, Moved& moved) {
  if (member.parent.empty()) return;
  naming_[member.parent].insert(&member);
  Member* const parent = Named(member.parent);
  if (parent == nullptr) return Attach(member, nullptr, Fault::kParentNotFound, moved);
  std::vector<Member*> way;
  // The members of an older cycle are roots, so the walk ends there.
  for (const Member* at = parent; at != nullptr; at = at->up) {
    way.push_back(Named(at->name));
    if (at == &member) break;
  }
  if (way.back() != &member) return Attach(member, parent, Fault::kNone, moved);
  // All of them become roots. Otherwise a walk upwards would not end.
  for (Member* at : way) Attach(*at, nullptr, Fault::kParentCycle, moved);
}

void Lineage::Attach(Member& member, Member* up, Fault fault, Moved& moved) {
  if (member.up == up && member.fault == fault) return;
  moved.insert(member.name);
  if (member.up != nullptr) {
    moved.insert(member.up->name);
    CHECK_EQ(Named(member.up->name)->below.erase(&member), 1U)
        << member.name << " is not among the children of its parent";
  }
  member.up = up;
  member.fault = fault;
  if (up != nullptr) {
    moved.insert(up->name);
    up->below.insert(&member);
  }
  SetDepth(member, up == nullptr ? 0 : up->depth + 1, moved);
}

// A chain may be long, so this keeps its own stack.
void Lineage::SetDepth(Member& member, std::size_t depth, Moved& moved) {
  std::vector<std::pair<Member*, std::size_t>> todo{{&member, depth}};
  while (!todo.empty()) {
    const auto [at, at_depth] = todo.back();
    todo.pop_back();
    if (at->depth == at_depth) continue;
    at->depth = at_depth;
    moved.insert(at->name);
    for (const Member* child : at->below) todo.emplace_back(Named(child->name), at_depth + 1);
  }
}

std::string CycleOf(const Lineage& lineage, const Lineage::Member& member) {
  std::string names = member.name;
  const Lineage::Member* at = &member;
  do {
    at = lineage.Find(at->parent);
    if (at == nullptr) break;
    names.append(", ").append(at->name);
  } while (at != &member);
  return names;
}

}  // namespace quota
