#pragma once

// What QuotaTree consists of, for its own files.

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
  ResourceList overpromised;  // guaranteed to its children together: the names above its hard
  std::set<Room*> rooms;      // that it reaches
  std::size_t namespaces = 0;
  Node* region = nullptr;  // a quota of the same region, and in the end itself

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

// What a change found before it.
class QuotaTree::Mutation {
 public:
  explicit Mutation(const QuotaTree& tree) : tree_(tree) {}

  // The quotas of a namespace, before it moves; null: it was in no room.
  void Note(std::string_view ns, const Room* room);
  void NotePlaces();
  // The quota, its parent, and the children of both.
  void NoteFamily(std::string_view quota);
  Change Finish();

 private:
  void NoteChildren(const Lineage::Member& member);
  bool Compare(const Reach& old, const Reach& now);

  const QuotaTree& tree_;
  std::map<std::string, std::shared_ptr<const Reach>> before_;  // by namespace
  std::map<std::string, Lineage::Member> places_;
  std::set<std::string> quotas_;
};

}  // namespace quota
