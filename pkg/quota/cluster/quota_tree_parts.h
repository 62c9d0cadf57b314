#pragma once

// The private parts of QuotaTree. Only quota_tree*.cc include this.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "pkg/quota/cluster/quota_tree.h"

namespace quota {

struct QuotaTree::Node {
  std::string name;
  const Lineage::Member* place = nullptr;
  std::optional<api::LabelSelector> selector;
  ResourceList hard;
  ResourceList guaranteed;
  ResourceList overpromised;  // sums of its children's guarantees that exceed hard
  std::set<Room*> rooms;      // that it reaches
  std::size_t namespaces = 0;
  Node* region = nullptr;  // union-find: a quota of the same region, at the end of the chain itself

  [[nodiscard]] Node* Region() {
    while (region != region->region) region = region->region;
    return region;
  }
};

struct QuotaTree::Room {
  Nodes selecting;
  std::shared_ptr<const Reach> reach;
  std::set<std::string_view> namespaces;
};

// Remembers the state before a change.
class QuotaTree::Mutation {
 public:
  explicit Mutation(const QuotaTree& tree) : tree_(tree) {}

  // Call before a namespace moves. `room` is its old room; null if it had none.
  void Note(std::string_view ns, const Room* room);
  void NotePlaces();
  // The quota, its parent, and the children of both.
  void NoteFamily(std::string_view quota);
  Change Finish();

 private:
  void NoteChildren(const Lineage::Member& member);
  bool Compare(std::string_view ns, const Reach& old);

  const QuotaTree& tree_;
  std::map<std::string, std::shared_ptr<const Reach>> before_;  // by namespace
  std::map<std::string, Lineage::Member> places_;
  std::set<std::string> quotas_;
  std::set<std::string> losing_;
};

}  // namespace quota
