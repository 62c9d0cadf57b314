#include "pkg/quota/cluster/limited_places.h"

#include <glog/logging.h>

namespace quota {
namespace {

void Decrease(LimitedPlaces::Counts& counts, const Place& place, std::size_t by = 1) {
  const auto at = counts.find(place);
  CHECK(at != counts.end() && at->second >= by) << place.text;
  at->second -= by;
  if (at->second == 0) counts.erase(at);
}

}  // namespace

void LimitedPlaces::Put(const std::string& quota, const Resources& limited,
                        const std::vector<Place>& selected) {
  Node& node = nodes_[quota];
  const std::set<Place> places(selected.begin(), selected.end());
  Limit(node, limited);
  for (const Place& place : places) {
    if (!node.selected.contains(place)) Add(&node, place, 1);
  }
  for (const Place& place : node.selected) {
    if (!places.contains(place)) Subtract(&node, place, 1);
  }
  node.selected = places;
}

void LimitedPlaces::Remove(const std::string& quota) {
  const auto found = nodes_.find(quota);
  if (found == nodes_.end()) return;
  Node& node = found->second;
  while (!node.children.empty()) Hang(**node.children.begin(), nullptr);
  Hang(node, nullptr);
  Limit(node, {});
  // Those below it have taken theirs with them.
  CHECK_EQ(node.below.size(), node.selected.size()) << quota << " has places that nobody selects";
  nodes_.erase(found);
}

// First all are cut off: parents of before and after together may form a cycle.
void LimitedPlaces::Move(const std::map<std::string, std::string>& parents) {
  std::map<Node*, Node*> moved;
  for (const auto& [quota, parent] : parents) {
    Node* const node = Find(quota);
    Node* const up = Find(parent);
    if (node != nullptr && node->up != up) moved.emplace(node, up);
  }
  for (const auto& [node, up] : moved) Hang(*node, nullptr);
  for (const auto& [node, up] : moved) Hang(*node, up);
}

const LimitedPlaces::Counts& LimitedPlaces::In(const api::GroupResource& resource) const {
  static const Counts none;
  const auto found = in_.find(resource);
  return found == in_.end() ? none : found->second;
}

const LimitedPlaces::Counts* LimitedPlaces::Below(std::string_view quota) const {
  const auto found = nodes_.find(quota);
  return found == nodes_.end() ? nullptr : &found->second.below;
}

LimitedPlaces::Node* LimitedPlaces::Find(std::string_view quota) {
  const auto found = nodes_.find(quota);
  return found == nodes_.end() ? nullptr : &found->second;
}

void LimitedPlaces::Add(Node* node, const Place& place, std::size_t count) {
  for (; node != nullptr; node = node->up) {
    const auto [at, added] = node->below.try_emplace(place, 0);
    at->second += count;
    if (!added) continue;
    for (const api::GroupResource& resource : node->limited) ++in_[resource][place];
  }
}

void LimitedPlaces::Subtract(Node* node, const Place& place, std::size_t count) {
  for (; node != nullptr; node = node->up) {
    Decrease(node->below, place, count);
    if (node->below.contains(place)) continue;
    for (const api::GroupResource& resource : node->limited) {
      const auto at = in_.find(resource);
      CHECK(at != in_.end()) << resource.ToString() << " is limited in no place";
      Decrease(at->second, place);
      if (at->second.empty()) in_.erase(at);
    }
  }
}

void LimitedPlaces::Hang(Node& node, Node* up) {
  if (node.up != nullptr) {
    CHECK_EQ(node.up->children.erase(&node), 1U) << "a quota is not among those below its parent";
    for (const auto& [place, count] : node.below) Subtract(node.up, place, count);
  }
  node.up = up;
  if (up == nullptr) return;
  up->children.insert(&node);
  for (const auto& [place, count] : node.below) Add(up, place, count);
}

void LimitedPlaces::Limit(Node& node, const Resources& limited) {
  for (const api::GroupResource& resource : limited) {
    if (node.limited.contains(resource) || node.below.empty()) continue;
    Counts& counts = in_[resource];
    for (const auto& [place, count] : node.below) ++counts[place];
  }
  for (const api::GroupResource& resource : node.limited) {
    if (limited.contains(resource) || node.below.empty()) continue;
    const auto at = in_.find(resource);
    CHECK(at != in_.end()) << resource.ToString() << " is limited in no place";
    for (const auto& [place, count] : node.below) Decrease(at->second, place);
    if (at->second.empty()) in_.erase(at);
  }
  node.limited = limited;
}

}  // namespace quota
