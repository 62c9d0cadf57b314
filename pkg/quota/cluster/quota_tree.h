#pragma once

// Maps namespaces to the ClusterQuotas that count them. A quota reaches every namespace that it or
// one of its descendants selects. That is a set: a namespace that several quotas of a subtree
// select is in it once. Namespaces that the same quotas select share a Room, so a thousand quotas
// over all namespaces need one list. No I/O; not thread-safe.

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/json/value.h"
#include "pkg/quota/cluster/lineage.h"
#include "pkg/quota/quota.h"

namespace quota {

class QuotaTree {
 public:
  // A quota that reaches a namespace.
  struct Reaching {
    std::string name;
    std::string above;  // a descendant that selects the namespace; "": the quota itself does
    bool operator==(const Reaching&) const = default;
  };
  // Sorted by depth, deepest first, then by name. So every quota comes before its ancestors.
  using Reach = std::vector<Reaching>;

  // Names, sorted.
  struct Change {
    std::vector<std::string> namespaces;  // reached by other quotas than before
    // Quotas that a namespace left: the labels or selectors say so, but the namespace still exists.
    std::vector<std::string> losing;
    // Quotas that may have another parent, other children, another depth, condition or number of
    // namespaces, or siblings with other guarantees.
    std::vector<std::string> quotas;
    [[nodiscard]] bool empty() const { return namespaces.empty() && quotas.empty(); }
  };

  // A problem with a quota's place in the tree, for its condition Ready.
  struct Flaw {
    std::string reason;  // ParentNotFound, ParentCycle or GuaranteedExceedsParent
    std::string message;
  };

  QuotaTree();
  ~QuotaTree();
  QuotaTree(const QuotaTree&) = delete;
  QuotaTree& operator=(const QuotaTree&) = delete;

  // REQUIRES: Quota::cluster is set. Costs O(quotas + namespaces), but nothing if the spec has not
  // changed.
  Change PutQuota(const Quota& quota);
  Change RemoveQuota(std::string_view name);
  // `labels` is metadata.labels; nullptr if absent. Costs O(quotas).
  Change PutNamespace(std::string_view ns, const json::Value* labels);
  Change RemoveNamespace(std::string_view ns);

  [[nodiscard]] bool KnowsNamespace(std::string_view ns) const;
  // Also empty for an unknown namespace.
  [[nodiscard]] const Reach& QuotasOf(std::string_view ns) const;
  // Returns the quotas that would reach a namespace with these labels.
  [[nodiscard]] Reach QuotasFor(const json::Value* labels) const;
  // Returns the quota and its ancestors, deepest first; empty if the quota is unknown.
  [[nodiscard]] Reach WayUp(std::string_view quota) const;
  // Returns the region of a namespace, named after one of its quotas; "" if no quota reaches it.
  // Two namespaces that share a quota have the same region, directly or through further namespaces.
  // So no quota is in two regions. The first call after a change costs O(rooms).
  [[nodiscard]] std::string_view RegionOf(std::string_view ns) const;
  // 0 for an unknown quota.
  [[nodiscard]] std::size_t CountNamespaces(std::string_view quota) const;
  // In no particular order.
  void VisitNamespaces(std::string_view quota,
                       const std::function<void(std::string_view ns)>& visit) const;
  // Returns its place in the tree, null if the quota is unknown. Valid until the quota is removed.
  [[nodiscard]] const Lineage::Member* Place(std::string_view quota) const;
  [[nodiscard]] std::optional<Flaw> FlawOf(std::string_view quota) const;

 private:
  struct Room;
  struct Node;
  struct Namespace {
    json::Value labels;
    Room* room = nullptr;
  };
  class Mutation;
  using Nodes = std::vector<Node*>;  // by name

  [[nodiscard]] Nodes Selecting(const json::Value* labels) const;
  [[nodiscard]] std::shared_ptr<const Reach> Expand(const Nodes& selecting) const;
  Room& RoomOf(const Nodes& selecting);
  void Enter(std::string_view ns, Namespace& space, Room& room);
  void Leave(std::string_view ns, Namespace& space);
  void Move(std::string_view ns, Namespace& space, const Nodes& selecting, Mutation& mutation);
  void Reselect(Node& node, Mutation& mutation);
  void Relink(Mutation& mutation);
  void SumGuarantees();
  [[nodiscard]] Node* Find(std::string_view quota) const;
  void Connect() const;

  Lineage lineage_;
  std::map<std::string, std::unique_ptr<Node>, std::less<>> nodes_;
  std::map<std::string, Namespace, std::less<>> namespaces_;
  std::map<Nodes, std::unique_ptr<Room>> rooms_;
  mutable bool connected_ = false;  // the nodes know their regions
};

}  // namespace quota
