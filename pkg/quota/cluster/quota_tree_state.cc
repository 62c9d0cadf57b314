// Computes properties of several quotas together: regions, and guarantees that exceed a parent's
// limit.

#include <utility>

#include "pkg/quota/cluster/quota_tree_parts.h"

namespace quota {

std::string_view QuotaTree::RegionOf(std::string_view ns) const {
  const Reach& reach = QuotasOf(ns);
  if (reach.empty()) return "";
  if (!connected_) Connect();
  return Find(reach.back().name)->Region()->name;
}

// Union-find over the rooms: all quotas of a room are in one region. A region is named after its
// first quota by name.
void QuotaTree::Connect() const {
  for (const auto& [name, node] : nodes_) node->region = node.get();
  for (const auto& [selecting, room] : rooms_) {
    for (const Reaching& quota : *room->reach) {
      Node* one = Find(quota.name)->Region();
      Node* other = Find(room->reach->back().name)->Region();
      if (other->name < one->name) std::swap(one, other);
      other->region = one;
    }
  }
  connected_ = true;
}

void QuotaTree::SumGuarantees() {
  std::map<const Lineage::Member*, ResourceList> sums;
  for (const auto& [name, node] : nodes_) {
    if (node->place->up == nullptr || node->guaranteed.empty()) continue;
    sums[node->place->up].Add(node->guaranteed);
  }
  for (const auto& [name, node] : nodes_) {
    node->overpromised = {};
    const auto sum = sums.find(node->place);
    if (sum == sums.end()) continue;
    for (const auto& [resource, amount] : sum->second) {
      const Quantity* limit = node->hard.Find(resource);
      if (limit != nullptr && amount > *limit) node->overpromised.Set(resource, amount);
    }
  }
}

std::optional<QuotaTree::Flaw> QuotaTree::FlawOf(std::string_view quota) const {
  using Fault = Lineage::Fault;
  const Node* node = Find(quota);
  if (node == nullptr) return std::nullopt;
  const Lineage::Member& place = *node->place;
  if (place.fault == Fault::kParentNotFound) {
    return Flaw{"ParentNotFound", "there is no ClusterQuota " + place.parent};
  }
  if (place.fault == Fault::kParentCycle) {
    return Flaw{"ParentCycle", "its parents lead back to it: " + CycleOf(lineage_, place)};
  }
  if (place.up == nullptr) return std::nullopt;
  const Node& parent = *Find(place.up->name);
  ResourceList promised;
  ResourceList limited;
  for (const auto& [resource, amount] : parent.overpromised) {
    if (node->guaranteed.Get(resource).IsZero()) continue;
    promised.Set(resource, amount);
    limited.Set(resource, parent.hard.Get(resource));
  }
  if (promised.empty()) return std::nullopt;
  return Flaw{"GuaranteedExceedsParent", "guaranteed in " + parent.name +
                                             " to all quotas below it: " + promised.ToString() +
                                             ", limited: " + limited.ToString()};
}

}  // namespace quota
