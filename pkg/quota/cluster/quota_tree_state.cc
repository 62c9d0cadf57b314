// Computes properties of several quotas together: regions, and guarantees that exceed a parent's
// limit.

#include <utility>

#include "pkg/quota/cluster/quota_tree_parts.h"

namespace quota {

std::string_view QuotaTree::RegionOf(std::string_view ns) const {
  const Reach& reach = QuotasOf(ns);
  if (reach.empty()) return "";
  if (!connected_) Connect();
  return At(reach.back().name).Region()->name;
}

// Union-find over the rooms: all quotas of a room are in one region. A region is named after its
// first quota by name. A new room only joins regions; after a room is gone, all are made anew.
void QuotaTree::Connect() const {
  for (const auto& [name, node] : nodes_) node->region = node.get();
  for (const auto& [selecting, room] : rooms_) Connect(*room);
  connected_ = true;
}

void QuotaTree::Connect(const Room& room) const {
  for (const Reaching& quota : *room.reach) {
    Node* one = At(quota.name).Region();
    Node* other = At(room.reach->back().name).Region();
    if (other->name < one->name) std::swap(one, other);
    other->region = one;
  }
}

// Moves the quota's amounts to the sums of its new parent; null: none.
void QuotaTree::Hang(Node& node, Node* above, Mutation& mutation) {
  const auto add = [&](Node* parent, std::int64_t times) {
    if (parent == nullptr) return;
    if (!node.guaranteed.empty()) {
      mutation.NoteGuarantees(*parent);
      parent->guaranteed_below.Add(node.guaranteed, times);
    }
    if (!node.promised.empty()) {
      mutation.NotePromises(*parent);
      parent->promised_below.Add(node.promised, times);
    }
  };
  add(node.above, -1);
  node.above = above;
  add(node.above, 1);
}

void QuotaTree::Limit(Node& node, const ResourceList& hard, ResourceList guaranteed,
                      Mutation& mutation) {
  if (node.hard != hard) {
    mutation.NoteGuarantees(node);
    node.hard = hard;
  }
  if (node.guaranteed == guaranteed) return;
  if (node.above != nullptr) {
    mutation.NoteGuarantees(*node.above);
    node.above->guaranteed_below.Add(node.guaranteed, -1);
    node.above->guaranteed_below.Add(guaranteed, 1);
  }
  node.guaranteed = std::move(guaranteed);
}

std::string_view QuotaTree::SetPromised(std::string_view quota, ResourceList promised) {
  Node& node = At(quota);
  if (node.promised == promised) return "";
  if (node.above != nullptr) {
    node.above->promised_below.Add(node.promised, -1);
    node.above->promised_below.Add(promised, 1);
  }
  node.promised = std::move(promised);
  return node.above == nullptr ? std::string_view() : node.above->name;
}

const ResourceList& QuotaTree::PromisedTo(std::string_view quota) const {
  static const ResourceList none;
  const Node* const node = Find(quota);
  return node == nullptr ? none : node->promised;
}

ResourceList QuotaTree::PromisedBelow(std::string_view quota) const {
  const Node* const node = Find(quota);
  return node == nullptr ? ResourceList() : node->promised_below.Get();
}

// Returns the sums of its children's guarantees that exceed its limits.
ResourceList QuotaTree::Overpromised(const Node& node) {
  ResourceList overpromised;
  for (const auto& [resource, amount] : node.guaranteed_below.Get()) {
    const Quantity* limit = node.hard.Find(resource);
    if (limit != nullptr && amount > *limit) overpromised.Set(resource, amount);
  }
  return overpromised;
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
  const Node& parent = At(place.up->name);
  ResourceList promised;
  ResourceList limited;
  for (const auto& [resource, amount] : Overpromised(parent)) {
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
