#include "pkg/quota/cluster/tree_place.h"

#include <algorithm>

#include "pkg/quota/saturating.h"

namespace quota {
namespace {

std::optional<std::size_t> IndexOf(const QuotaTree::Reach& reach, const Lineage::Member* member) {
  if (member == nullptr) return std::nullopt;
  const auto found = std::ranges::find(reach, member->name, &QuotaTree::Reaching::name);
  if (found == reach.end()) return std::nullopt;
  return static_cast<std::size_t>(found - reach.begin());
}

}  // namespace

std::vector<TreePlace> PlacesOf(const QuotaTree& tree, const QuotaTree::Reach& reach,
                                const PromisedTo& promised) {
  std::vector<TreePlace> places;
  for (const auto& [name, above] : reach) {
    TreePlace& place = places.emplace_back();
    place.above = above;
    const Lineage::Member* member = tree.Place(name);
    if (member == nullptr) continue;
    place.parent = IndexOf(reach, member->up);
    if (place.parent) place.promised = promised(name);
    for (const Lineage::Member* child : member->below) {
      if (!IndexOf(reach, child)) AddTo(place.held_back, promised(child->name));
    }
  }
  return places;
}

}  // namespace quota
