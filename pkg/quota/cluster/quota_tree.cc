#include "pkg/quota/cluster/quota_tree.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "pkg/quota/cluster/guarantee.h"
#include "pkg/quota/saturating.h"

namespace quota {

struct QuotaTree::Node {
  std::string name;
  const Lineage::Member* place = nullptr;
  std::optional<api::LabelSelector> selector;
  ResourceList hard;
  ResourceList guaranteed;
  ResourceList overpromised;  // guaranteed to its children together: the names above its hard
  std::set<Room*> rooms;      // that it reaches
  std::size_t namespaces = 0;
};

struct QuotaTree::Room {
  Nodes selecting;
  std::shared_ptr<const Reach> reach;
  std::set<std::string_view> namespaces;
};

// What a change found before it.
class QuotaTree::Mutation {
 public:
  explicit Mutation(const QuotaTree& tree) : tree_(tree) {}

  void Note(std::string_view ns, const Room* room) {
    before_.try_emplace(std::string(ns), room != nullptr ? room->reach : nullptr);
  }
  void NotePlaces() {
    for (const auto& [name, node] : tree_.nodes_) {
      if (node->place != nullptr) places_.emplace(name, *node->place);
    }
  }
  // The quota, its parent, and the children of both.
  void NoteFamily(std::string_view quota) {
    const Lineage::Member* member = tree_.lineage_.Find(quota);
    if (member == nullptr) return;
    quotas_.insert(member->name);
    NoteChildren(*member);
    if (member->up == nullptr) return;
    quotas_.insert(member->up->name);
    NoteChildren(*member->up);
  }

  Change Finish() {
    Change change;
    for (const auto& [ns, old] : before_) {
      static const Reach nothing;
      if (Compare(old != nullptr ? *old : nothing, tree_.QuotasOf(ns))) {
        change.namespaces.push_back(ns);
      }
    }
    for (const auto& [name, place] : places_) {
      const Lineage::Member* now = tree_.lineage_.Find(name);
      const bool same = now != nullptr && now->up == place.up && now->below == place.below &&
                        now->depth == place.depth && now->fault == place.fault;
      if (!same) quotas_.insert(name);
    }
    change.quotas.assign(quotas_.begin(), quotas_.end());
    return change;
  }

 private:
  void NoteChildren(const Lineage::Member& member) {
    for (const Lineage::Member* child : member.below) quotas_.insert(child->name);
  }

  // True if the quotas differ; those that are only in one of the two have other namespaces now.
  bool Compare(const Reach& old, const Reach& now) {
    const auto names = [](const Reach& reach) {
      std::vector<std::string> sorted;
      for (const Reaching& quota : reach) sorted.push_back(quota.name);
      std::ranges::sort(sorted);
      return sorted;
    };
    const std::vector<std::string> a = names(old);
    const std::vector<std::string> b = names(now);
    std::ranges::set_symmetric_difference(a, b, std::inserter(quotas_, quotas_.end()));
    return a != b;
  }

  const QuotaTree& tree_;
  std::map<std::string, std::shared_ptr<const Reach>> before_;  // by namespace
  std::map<std::string, Lineage::Member> places_;
  std::set<std::string> quotas_;
};

QuotaTree::QuotaTree() = default;
QuotaTree::~QuotaTree() = default;

QuotaTree::Change QuotaTree::PutQuota(const Quota& quota) {
  const std::string& name = quota.key.name;
  const ClusterSpec spec = quota.cluster.value_or(ClusterSpec());
  std::unique_ptr<Node>& node = nodes_[name];
  const bool added = node == nullptr;
  if (added) node = std::make_unique<Node>(Node{.name = name});
  const bool moves = added || node->place->parent != spec.parent;
  const bool selects = node->selector != spec.selector;
  const ResourceList guaranteed = Guaranteed(spec, quota.hard);
  const bool limits = node->hard != quota.hard || node->guaranteed != guaranteed;
  if (!moves && !selects && !limits) return {};
  Mutation mutation(*this);
  mutation.NotePlaces();
  mutation.NoteFamily(name);
  node->hard = quota.hard;
  node->guaranteed = guaranteed;
  node->place = &lineage_.Put(name, spec.parent);
  if (moves) Relink(mutation);
  node->selector = spec.selector;
  if (selects) Reselect(*node, mutation);
  SumGuarantees();
  mutation.NoteFamily(name);
  return mutation.Finish();
}

QuotaTree::Change QuotaTree::RemoveQuota(std::string_view name) {
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) return {};
  Mutation mutation(*this);
  mutation.NotePlaces();
  mutation.NoteFamily(name);
  found->second->selector.reset();
  Reselect(*found->second, mutation);
  lineage_.Remove(name);
  Relink(mutation);
  nodes_.erase(found);
  SumGuarantees();
  return mutation.Finish();
}

QuotaTree::Change QuotaTree::PutNamespace(std::string_view ns, const json::Value* labels) {
  const auto [found, added] = namespaces_.try_emplace(std::string(ns));
  Namespace& space = found->second;
  json::Value next = labels != nullptr ? *labels : json::Value();
  if (!added && space.labels == next) return {};
  space.labels = std::move(next);
  Mutation mutation(*this);
  Move(found->first, space, Selecting(&space.labels), mutation);
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

QuotaTree::Reach QuotaTree::QuotasFor(const json::Value* labels) const {
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

QuotaTree::Nodes QuotaTree::Selecting(const json::Value* labels) const {
  Nodes selecting;
  for (const auto& [name, node] : nodes_) {
    if (node->selector && node->selector->Matches(labels)) selecting.push_back(node.get());
  }
  return selecting;
}

std::shared_ptr<const QuotaTree::Reach> QuotaTree::Expand(const Nodes& selecting) const {
  using Step = std::pair<const Lineage::Member*, std::string_view>;  // and the name it is above
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
      if (!seen.insert(above).second) break;  // and with it all that is above
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
  for (const Reaching& quota : *room->reach) Find(quota.name)->rooms.insert(room.get());
  return *room;
}

void QuotaTree::Enter(std::string_view ns, Namespace& space, Room& room) {
  room.namespaces.insert(ns);
  space.room = &room;
  for (const Reaching& quota : *room.reach) ++Find(quota.name)->namespaces;
}

void QuotaTree::Leave(std::string_view ns, Namespace& space) {
  Room& room = *std::exchange(space.room, nullptr);
  room.namespaces.erase(ns);
  for (const Reaching& quota : *room.reach) --Find(quota.name)->namespaces;
  if (!room.namespaces.empty()) return;
  for (const Reaching& quota : *room.reach) Find(quota.name)->rooms.erase(&room);
  const Nodes selecting = room.selecting;
  rooms_.erase(selecting);
}

// `ns` is the key of the namespace: the room refers to it.
void QuotaTree::Move(std::string_view ns, Namespace& space, const Nodes& selecting,
                     Mutation& mutation) {
  Room& room = RoomOf(selecting);
  if (&room == space.room) return;
  mutation.Note(ns, space.room);
  if (space.room != nullptr) Leave(ns, space);
  Enter(ns, space, room);
}

// The selector of the quota has changed.
void QuotaTree::Reselect(Node& node, Mutation& mutation) {
  for (auto& [ns, space] : namespaces_) {
    const bool now = node.selector && node.selector->Matches(&space.labels);
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

// Who is above whom has changed.
void QuotaTree::Relink(Mutation& mutation) {
  for (auto& [selecting, room] : rooms_) {
    std::shared_ptr<const Reach> reach = Expand(selecting);
    if (*reach == *room->reach) continue;
    for (const std::string_view ns : room->namespaces) mutation.Note(ns, room.get());
    for (const Reaching& quota : *room->reach) {
      Node& node = *Find(quota.name);
      node.rooms.erase(room.get());
      node.namespaces -= room->namespaces.size();
    }
    room->reach = std::move(reach);
    for (const Reaching& quota : *room->reach) {
      Node& node = *Find(quota.name);
      node.rooms.insert(room.get());
      node.namespaces += room->namespaces.size();
    }
  }
}

void QuotaTree::SumGuarantees() {
  std::map<const Lineage::Member*, ResourceList> sums;
  for (const auto& [name, node] : nodes_) {
    if (node->place->up == nullptr || node->guaranteed.empty()) continue;
    AddTo(sums[node->place->up], node->guaranteed);
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
