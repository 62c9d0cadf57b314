#pragma once

// The private parts of QuotaTree. Only quota_tree*.cc include this.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "pkg/quota/cluster/quota_tree.h"
#include "pkg/quota/exact_sum.h"

namespace quota {

struct QuotaTree::Node {
  std::string name;
  const Lineage::Member* place = nullptr;
  std::optional<api::LabelSelector> selector;
  ResourceList hard;
  ResourceList guaranteed;
  ResourceList promised;
  Node* above = nullptr;       // its parent, whose sums contain its amounts
  ExactSums guaranteed_below;  // of its children
  ExactSums promised_below;    // of its children
  std::set<Room*> rooms;       // that it reaches
  std::size_t namespaces = 0;
  Node* region = nullptr;  // union-find: a quota of the same region, at the end of the chain itself

  [[nodiscard]] Node* Region() {
    while (region != region->region) region = region->region = region->region->region;
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
  void NoteQuota(const Node& node) { quotas_.insert(node.name); }
  void NoteChildren(const Node& node);
  // Call before its limits, or the guarantees of its children, change.
  void NoteGuarantees(const Node& node);
  // What it promises to its children has changed.
  void NotePromises(const Node& node) { parents_.insert(node.name); }
  // Lineage adds the quotas that got another place.
  [[nodiscard]] Lineage::Moved& moved() { return quotas_; }
  Change Finish();

 private:
  void CompareGuarantees(const Node& node, const ResourceList& old);
  bool Compare(std::string_view ns, const Reach& old);

  const QuotaTree& tree_;
  std::map<std::string, std::shared_ptr<const Reach>> before_;  // by namespace
  std::map<std::string, ResourceList> overpromised_;            // before, by quota
  Lineage::Moved quotas_;
  std::set<std::string> parents_;
  std::set<std::string> losing_;
};

}  // namespace quota
