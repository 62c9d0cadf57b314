#include "pkg/quota/cluster/tree_place.h"

#include <map>

namespace quota {
namespace {

using Indices = std::map<const Lineage::Member*, std::size_t>;  // of a reach

// Null members are no quotas of the tree.
std::vector<const Lineage::Member*> MembersOf(const QuotaTree& tree,
                                              const QuotaTree::Reach& reach) {
  std::vector<const Lineage::Member*> members;
  members.reserve(reach.size());
  for (const QuotaTree::Reaching& one : reach) members.push_back(tree.Place(one.name));
  return members;
}

}  // namespace

std::vector<TreePlace> PlacesOf(const QuotaTree& tree, const QuotaTree::Reach& reach,
                                const PromisedTo& promised) {
  const std::vector<const Lineage::Member*> members = MembersOf(tree, reach);
  Indices indices;
  for (std::size_t i = 0; i < members.size(); ++i) indices.emplace(members[i], i);
  std::vector<TreePlace> places(reach.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    places[i].above = reach[i].above;
    if (members[i] == nullptr) continue;
    for (const Lineage::Member* child : members[i]->below) {
      const ResourceList kept = promised(child->name);
      places[i].promised_below.Add(kept);
      const auto found = indices.find(child);
      if (found == indices.end()) continue;
      places[found->second].parent = i;
      places[found->second].promised = kept;
    }
  }
  return places;
}

}  // namespace quota
