#include "pkg/quota/cluster/lineage.h"

#include <set>

namespace quota {

const Lineage::Member& Lineage::Put(std::string_view name, std::string_view parent) {
  const auto [found, added] = members_.try_emplace(std::string(name), Member{std::string(name)});
  Member& member = found->second;
  if (!added && member.parent == parent) return member;
  member.parent = parent;
  Link();
  return member;
}

void Lineage::Remove(std::string_view name) {
  const auto found = members_.find(name);
  if (found == members_.end()) return;
  members_.erase(found);
  Link();
}

const Lineage::Member* Lineage::Find(std::string_view name) const {
  const auto found = members_.find(name);
  return found == members_.end() ? nullptr : &found->second;
}

void Lineage::Link() {
  for (auto& [name, member] : members_) {
    member.up = member.parent.empty() ? nullptr : Find(member.parent);
    const bool missing = member.up == nullptr && !member.parent.empty();
    member.fault = missing ? Fault::kParentNotFound : Fault::kNone;
    member.below.clear();
  }
  MarkCycles();
  for (auto& [name, member] : members_) {
    // Members of a cycle become roots. Otherwise the walk below would not end.
    if (member.fault == Fault::kParentCycle) member.up = nullptr;
  }
  for (auto& [name, member] : members_) {
    member.depth = 0;
    for (const Member* above = member.up; above != nullptr; above = above->up) ++member.depth;
    if (member.up == nullptr) continue;
    members_.find(member.up->name)->second.below.push_back(&member);
  }
}

// Follows the parents of each member up to a root or to a visited member. A path that ends at one
// of its own members contains a cycle. Each member is visited once.
void Lineage::MarkCycles() {
  std::set<const Member*> visited;
  for (const auto& [name, start] : members_) {
    std::vector<const Member*> way;
    const Member* at = &start;
    while (at != nullptr && visited.insert(at).second) {
      way.push_back(at);
      at = at->up;
    }
    bool inside = false;  // the path returns to `at`: the members from `at` on are a cycle
    for (const Member* member : way) {
      inside = inside || member == at;
      if (inside) members_.find(member->name)->second.fault = Fault::kParentCycle;
    }
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
