// Compares the tree before and after a mutation, and makes the Change of the difference.

#include <algorithm>
#include <iterator>

#include "pkg/quota/cluster/quota_tree_parts.h"

namespace quota {

void QuotaTree::Mutation::Note(std::string_view ns, const Room* room) {
  before_.try_emplace(std::string(ns), room != nullptr ? room->reach : nullptr);
}

void QuotaTree::Mutation::NotePlaces() {
  for (const auto& [name, node] : tree_.nodes_) {
    if (node->place != nullptr) places_.emplace(name, *node->place);
  }
}

void QuotaTree::Mutation::NoteFamily(std::string_view quota) {
  const Lineage::Member* member = tree_.lineage_.Find(quota);
  if (member == nullptr) return;
  quotas_.insert(member->name);
  NoteChildren(*member);
  if (member->up == nullptr) return;
  quotas_.insert(member->up->name);
  NoteChildren(*member->up);
}

QuotaTree::Change QuotaTree::Mutation::Finish() {
  Change change;
  for (const auto& [ns, old] : before_) {
    static const Reach nothing;
    if (Compare(ns, old != nullptr ? *old : nothing)) change.namespaces.push_back(ns);
  }
  for (const auto& [name, place] : places_) {
    const Lineage::Member* now = tree_.lineage_.Find(name);
    const bool same = now != nullptr && now->up == place.up && now->below == place.below &&
                      now->depth == place.depth && now->fault == place.fault;
    if (same) continue;
    quotas_.insert(name);
    NoteFamily(name);
  }
  change.quotas.assign(quotas_.begin(), quotas_.end());
  change.losing.assign(losing_.begin(), losing_.end());
  return change;
}

void QuotaTree::Mutation::NoteChildren(const Lineage::Member& member) {
  for (const Lineage::Member* child : member.below) quotas_.insert(child->name);
}

// True if other quotas than before reach the namespace. A quota that is in only one of the lists
// gained or lost it, so it is added to quotas_.
bool QuotaTree::Mutation::Compare(std::string_view ns, const Reach& old) {
  const auto names = [](const Reach& reach) {
    std::vector<std::string> sorted;
    for (const Reaching& quota : reach) sorted.push_back(quota.name);
    std::ranges::sort(sorted);
    return sorted;
  };
  const std::vector<std::string> a = names(old);
  const std::vector<std::string> b = names(tree_.QuotasOf(ns));
  std::ranges::set_symmetric_difference(a, b, std::inserter(quotas_, quotas_.end()));
  if (tree_.KnowsNamespace(ns)) {
    std::ranges::set_difference(a, b, std::inserter(losing_, losing_.end()));
  }
  return a != b;
}

}  // namespace quota
