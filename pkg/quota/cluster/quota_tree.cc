#include "pkg/quota/cluster/quota_tree.h"

#include <glog/logging.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "pkg/quota/cluster/quota_tree_parts.h"
#include "pkg/quota/guarantee.h"

namespace quota {

QuotaTree::QuotaTree() = default;
QuotaTree::~QuotaTree() = default;

QuotaTree::Change QuotaTree::PutQuota(const Quota& quota) {
  const std::string& name = quota.key.name;
  const ClusterSpec spec = quota.cluster.value_or(ClusterSpec());
  std::unique_ptr<Node>& held = nodes_[name];
  const bool added = held == nullptr;
  if (added) held = std::make_unique<Node>(Node{.name = name});
  Node& node = *held;
  if (added) node.region = &node;
  const bool moves = added || node.place->parent != spec.parent;
  const bool selects = node.selector != spec.selector;
  ResourceList guaranteed = Guaranteed(spec, quota.hard);
  const bool limits = node.hard != quota.hard || node.guaranteed != guaranteed;
  if (!moves && !selects && !limits) return {};
  Mutation mutation(*this);
  mutation.NoteQuota(node);
  if (limits) Limit(node, quota.hard, std::move(guaranteed), mutation);
  if (moves) {
    node.place = &lineage_.Put(name, spec.parent, mutation.moved());
    Relink(mutation);
  }
  if (selects) {
    if (node.selector) selectors_.Remove(node.name, *node.selector);
    node.selector = spec.selector;
    if (node.selector) selectors_.Put(node.name, *node.selector);
    Reselect(node, mutation);
  }
  return mutation.Finish();
}

QuotaTree::Change QuotaTree::RemoveQuota(std::string_view name) {
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) return {};
  Node& node = *found->second;
  Mutation mutation(*this);
  mutation.NoteQuota(node);
  if (node.selector) {
    selectors_.Remove(node.name, *std::exchange(node.selector, std::nullopt));
    Reselect(node, mutation);
  }
  lineage_.Remove(name, mutation.moved());
  node.place = nullptr;
  Relink(mutation);
  Hang(node, nullptr, mutation);
  CHECK(node.rooms.empty() && node.namespaces == 0) << name << " is removed and reaches namespaces";
  CHECK(node.guaranteed_below.empty() && node.promised_below.empty())
      << name << " is removed and has the amounts of children";
  nodes_.erase(found);
  return mutation.Finish();
}

QuotaTree::Change QuotaTree::PutNamespace(std::string_view ns, LabelText labels) {
  const auto [found, added] = namespaces_.try_emplace(std::string(ns));
  Namespace& space = found->second;
  if (!added && space.labels == labels) return {};
  space.labels = std::move(labels);
  Mutation mutation(*this);
  Move(found->first, space, Selecting(space.labels), mutation);
  return mutation.Finish();
}

QuotaTree::Change QuotaTree::RemoveNamespace(std::string_view ns) {
  const auto found = namespaces_.find(ns);
  if (found == namespaces_.end()) return {};
  Mutation mutation(*this);
  mutation.Note(ns, found->second.room);
  Leave(found->first, found->second);
  namespaces_.erase(found);
  return mutation.Finish();
}

bool QuotaTree::KnowsNamespace(std::string_view ns) const {
  return namespaces_.find(ns) != namespaces_.end();
}

const QuotaTree::Reach& QuotaTree::QuotasOf(std::string_view ns) const {
  static const Reach none;
  const auto found = namespaces_.find(ns);
  return found == namespaces_.end() ? none : *found->second.room->reach;
}

QuotaTree::Reach QuotaTree::QuotasFor(const LabelText& labels) const {
  return *Expand(Selecting(labels));
}

QuotaTree::Reach QuotaTree::WayUp(std::string_view quota) const {
  Node* node = Find(quota);
  return node == nullptr ? Reach() : *Expand({node});
}

std::size_t QuotaTree::CountNamespaces(std::string_view quota) const {
  const Node* node = Find(quota);
  return node == nullptr ? 0 : node->namespaces;
}

void QuotaTree::VisitNamespaces(std::string_view quota,
                                const std::function<void(std::string_view ns)>& visit) const {
  const Node* node = Find(quota);
  if (node == nullptr) return;
  for (const Room* room : node->rooms) std::ranges::for_each(room->namespaces, visit);
}

const Lineage::Member* QuotaTree::Place(std::string_view quota) const {
  return lineage_.Find(quota);
}

QuotaTree::Node* QuotaTree::Find(std::string_view quota) const {
  const auto found = nodes_.find(quota);
  return found == nodes_.end() ? nullptr : found->second.get();
}

QuotaTree::Node& QuotaTree::At(std::string_view quota) const {
  Node* const node = Find(quota);
  CHECK(node != nullptr) << "ClusterQuota " << quota << " is referred to and not in the tree";
  return *node;
}

QuotaTree::Nodes QuotaTree::Selecting(const LabelText& labels) const {
  const api::LabelGetter label = [&](std::string_view key) { return labels.Find(key); };
  Nodes selecting;
  selectors_.VisitCandidates(labels, [&](std::string_view name) {
    Node& node = At(name);
    CHECK(node.selector) << "the index has a selector of " << name << ", which has none";
    if (node.selector->Matches(label)) selecting.push_back(&node);
  });
  std::ranges::sort(selecting, {}, &Node::name);
  return selecting;
}

std::shared_ptr<const QuotaTree::Reach> QuotaTree::Expand(const Nodes& selecting) const {
  // A quota, and its descendant that selects the namespaces.
  using Step = std::pair<const Lineage::Member*, std::string_view>;
  const auto deeper = [](const Step& a, const Step& b) {
    return a.first->depth != b.first->depth ? a.first->depth > b.first->depth
                                            : a.first->name < b.first->name;
  };
  std::vector<Step> steps;
  std::set<const Lineage::Member*> seen;
  for (const Node* node : selecting) {
    seen.insert(node->place);
    steps.emplace_back(node->place, "");
  }
  std::ranges::sort(steps, deeper);
  const std::size_t own = steps.size();
  for (std::size_t i = 0; i < own; ++i) {
    const std::string_view name = steps[i].first->name;
    for (auto above = steps[i].first->up; above != nullptr; above = above->up) {
      if (!seen.insert(above).second) break;  // its ancestors are in the list, too
      steps.emplace_back(above, name);
    }
  }
  std::ranges::sort(steps, deeper);
  auto reach = std::make_shared<Reach>();
  for (const auto& [member, below] : steps) reach->push_back({member->name, std::string(below)});
  return reach;
}

QuotaTree::Room& QuotaTree::RoomOf(const Nodes& selecting) {
  std::unique_ptr<Room>& room = rooms_[selecting];
  if (room != nullptr) return *room;
  room = std::make_unique<Room>(Room{.selecting = selecting, .reach = Expand(selecting)});
  for (const Reaching& quota : *room->reach) At(quota.name).rooms.insert(room.get());
  if (connected_) Connect(*room);
  return *room;
}

void QuotaTree::Enter(std::string_view ns, Namespace& space, Room& room) {
  room.namespaces.insert(ns);
  space.room = &room;
  for (const Reaching& quota : *room.reach) ++At(quota.name).namespaces;
}

void QuotaTree::Leave(std::string_view ns, Namespace& space) {
  Room& room = *std::exchange(space.room, nullptr);
  CHECK_EQ(room.namespaces.erase(ns), 1U) << "namespace " << ns << " is not in its room";
  for (const Reaching& quota : *room.reach) {
    Node& node = At(quota.name);
    CHECK_GT(node.namespaces, 0U) << quota.name << " reaches namespace " << ns << " uncounted";
    --node.namespaces;
  }
  if (!room.namespaces.empty()) return;
  connected_ = false;
  for (const Reaching& quota : *room.reach) {
    CHECK_EQ(At(quota.name).rooms.erase(&room), 1U) << quota.name << " does not know a room";
  }
  // A copy: erase() must not get a key that it destroys.
  const Nodes selecting = room.selecting;
  CHECK_EQ(rooms_.erase(selecting), 1U) << "a room is not found by the quotas that select it";
}

// `ns` must be the key in namespaces_: the room keeps a view of it.
void QuotaTree::Move(std::string_view ns, Namespace& space, const Nodes& selecting,
                     Mutation& mutation) {
  Room& room = RoomOf(selecting);
  if (&room == space.room) return;
  mutation.Note(ns, space.room);
  if (space.room != nullptr) Leave(ns, space);
  Enter(ns, space, room);
}

// Call after the selector of the quota changed.
void QuotaTree::Reselect(Node& node, Mutation& mutation) {
  for (auto& [ns, space] : namespaces_) {
    const LabelText& labels = space.labels;
    const auto label = [&labels](std::string_view key) { return labels.Find(key); };
    const bool now = node.selector && node.selector->Matches(label);
    const Nodes& before = space.room->selecting;
    const auto at = std::ranges::lower_bound(before, node.name, {}, &Node::name);
    const bool was = at != before.end() && *at == &node;
    if (now == was) continue;
    Nodes selecting = before;
    const auto place = selecting.begin() + (at - before.begin());
    if (now) {
      selecting.insert(place, &node);
    } else {
      selecting.erase(place);
    }
    Move(ns, space, selecting, mutation);
  }
}

// Call after parents changed, with the quotas that moved.
void QuotaTree::Relink(Mutation& mutation) {
  std::set<Room*> rooms;
  // A copy: more quotas are noted meanwhile.
  for (const std::string& name : Lineage::Moved(mutation.moved())) {
    Node* const node = Find(name);
    if (node == nullptr || node->place == nullptr) continue;
    const Lineage::Member* const up = node->place->up;
    Node* const above = up == nullptr ? nullptr : &At(up->name);
    if (node->above == above) continue;
    Hang(*node, above, mutation);
    mutation.NoteChildren(*node);
    rooms.insert(node->rooms.begin(), node->rooms.end());
  }
  for (Room* room : rooms) Renew(*room, mutation);
}

// Call after ancestors of the quotas that select the room changed.
void QuotaTree::Renew(Room& room, Mutation& mutation) {
  std::shared_ptr<const Reach> reach = Expand(room.selecting);
  if (*reach == *room.reach) return;
  connected_ = false;
  for (const std::string_view ns : room.namespaces) mutation.Note(ns, &room);
  for (const Reaching& quota : *room.reach) {
    Node& node = At(quota.name);
    CHECK_EQ(node.rooms.erase(&room), 1U) << node.name << " does not know a room";
    CHECK_GE(node.namespaces, room.namespaces.size())
        << node.name << " reaches more than it counts";
    node.namespaces -= room.namespaces.size();
  }
  room.reach = std::move(reach);
  for (const Reaching& quota : *room.reach) {
    Node& node = At(quota.name);
    node.rooms.insert(&room);
    node.namespaces += room.namespaces.size();
  }
}

}  // namespace quota
