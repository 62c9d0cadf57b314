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

std::vector<TreePlace> PlacesOf(const QuotaTree& tree, const QuotaTree::Reach& reach) {
  const std::vector<const Lineage::Member*> members = MembersOf(tree, reach);
  Indices indices;
  for (std::size_t i = 0; i < members.size(); ++i) indices.emplace(members[i], i);
  std::vector<TreePlace> places(reach.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    places[i].above = reach[i].above;
    if (members[i] == nullptr) continue;
    places[i].promised_below = tree.PromisedBelow(reach[i].name);
    if (members[i]->up == nullptr) continue;
    const auto parent = indices.find(members[i]->up);
    if (parent == indices.end()) continue;
    places[i].parent = parent->second;
    places[i].promised = tree.PromisedTo(reach[i].name);
  }
  return places;
}

}  // namespace quota
