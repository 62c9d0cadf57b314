// Compares the tree before and after a mutation, and makes the Change of the difference.

#include <algorithm>
#include <iterator>

#include "pkg/quota/cluster/quota_tree_parts.h"

namespace quota {

void QuotaTree::Mutation::Note(std::string_view ns, const Room* room) {
  before_.try_emplace(std::string(ns), room != nullptr ? room->reach : nullptr);
}

void QuotaTree::Mutation::NoteChildren(const Node& node) {
  for (const Lineage::Member* child : node.place->below) quotas_.insert(child->name);
}

void QuotaTree::Mutation::NoteGuarantees(const Node& node) {
  overpromised_.try_emplace(node.name, Overpromised(node));
}

QuotaTree::Change QuotaTree::Mutation::Finish() {
  Change change;
  for (const auto& [ns, old] : before_) {
    static const Reach nothing;
    if (Compare(ns, old != nullptr ? *old : nothing)) change.namespaces.push_back(ns);
  }
  for (const auto& [name, old] : overpromised_) {
    if (const Node* const node = tree_.Find(name)) CompareGuarantees(*node, old);
  }
  change.quotas.assign(quotas_.begin(), quotas_.end());
  change.parents.assign(parents_.begin(), parents_.end());
  change.losing.assign(losing_.begin(), losing_.end());
  return change;
}

// Children with a guarantee under a name show whether their parent promises too much of it. The
// amounts are only in the text.
void QuotaTree::Mutation::CompareGuarantees(const Node& node, const ResourceList& old) {
  const ResourceList now = Overpromised(node);
  if (now == old) return;
  parents_.insert(node.name);
  ResourceList differ;  // names that are in one of the two
  for (const auto& [name, amount] : now) {
    if (old.Find(name) == nullptr) differ.Set(name, amount);
  }
  for (const auto& [name, amount] : old) {
    if (now.Find(name) == nullptr) differ.Set(name, amount);
  }
  if (differ.empty()) return;
  for (const Lineage::Member* child : node.place->below) {
    const ResourceList& guaranteed = tree_.At(child->name).guaranteed;
    const auto concerned = [&](const auto& entry) { return differ.Find(entry.first) != nullptr; };
    if (std::ranges::any_of(guaranteed, concerned)) quotas_.insert(child->name);
  }
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
