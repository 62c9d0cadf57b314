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

#include "pkg/quota/cluster/label_text.h"
#include "pkg/quota/cluster/lineage.h"
#include "pkg/quota/cluster/selector_index.h"
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
    // namespaces.
    std::vector<std::string> quotas;
    // Quotas that keep other amounts free for their children: more or less is left for each child,
    // and the text of its condition may be another one.
    std::vector<std::string> parents;
    [[nodiscard]] bool empty() const {
      return namespaces.empty() && quotas.empty() && parents.empty();
    }
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

  // REQUIRES: Quota::cluster is set. Costs nothing if the spec has not changed. Otherwise, the
  // number of quotas and namespaces that change their place, their ancestors, and, if the selector
  // changed, the number of namespaces.
  Change PutQuota(const Quota& quota);
  Change RemoveQuota(std::string_view name);
  // Sets Promised() of a quota. Returns its parent if that now keeps other amounts free; "": none.
  // REQUIRES: the quota is known.
  std::string_view SetPromised(std::string_view quota, ResourceList promised);
  // Costs the number of labels, of quotas that may select the namespace (SelectorIndex), and of
  // their ancestors.
  Change PutNamespace(std::string_view ns, LabelText labels);
  Change RemoveNamespace(std::string_view ns);

  [[nodiscard]] bool KnowsNamespace(std::string_view ns) const;
  // Also empty for an unknown namespace.
  [[nodiscard]] const Reach& QuotasOf(std::string_view ns) const;
  // Returns the quotas that would reach a namespace with these labels.
  [[nodiscard]] Reach QuotasFor(const LabelText& labels) const;
  // Returns the quota and its ancestors, deepest first; empty if the quota is unknown.
  [[nodiscard]] Reach WayUp(std::string_view quota) const;
  // Returns the region of a namespace, named after one of its quotas; "" if no quota reaches it.
  // Two namespaces that share a quota have the same region, directly or through further namespaces.
  // So no quota is in two regions. The first call after the last namespace of a room has left
  // costs O(rooms).
  [[nodiscard]] std::string_view RegionOf(std::string_view ns) const;
  // 0 for an unknown quota.
  [[nodiscard]] std::size_t CountNamespaces(std::string_view quota) const;
  // In no particular order.
  void VisitNamespaces(std::string_view quota,
                       const std::function<void(std::string_view ns)>& visit) const;
  // Returns its place in the tree, null if the quota is unknown. Valid until the quota is removed.
  [[nodiscard]] const Lineage::Member* Place(std::string_view quota) const;
  [[nodiscard]] std::optional<Flaw> FlawOf(std::string_view quota) const;
  // What was set by SetPromised(); empty for an unknown quota.
  [[nodiscard]] const ResourceList& PromisedTo(std::string_view quota) const;
  // The sum of PromisedTo() of its children. Does not depend on their number.
  [[nodiscard]] ResourceList PromisedBelow(std::string_view quota) const;

 private:
  struct Room;
  struct Node;
  struct Namespace {
    LabelText labels;
    Room* room = nullptr;
  };
  class Mutation;
  using Nodes = std::vector<Node*>;  // by name

  [[nodiscard]] Nodes Selecting(const LabelText& labels) const;
  [[nodiscard]] std::shared_ptr<const Reach> Expand(const Nodes& selecting) const;
  Room& RoomOf(const Nodes& selecting);
  void Enter(std::string_view ns, Namespace& space, Room& room);
  void Leave(std::string_view ns, Namespace& space);
  void Move(std::string_view ns, Namespace& space, const Nodes& selecting, Mutation& mutation);
  void Reselect(Node& node, Mutation& mutation);
  void Relink(Mutation& mutation);
  void Hang(Node& node, Node* above, Mutation& mutation);
  void Limit(Node& node, const ResourceList& hard, ResourceList guaranteed, Mutation& mutation);
  void Renew(Room& room, Mutation& mutation);
  static ResourceList Overpromised(const Node& node);
  [[nodiscard]] Node* Find(std::string_view quota) const;
  // The same for a quota that must be in the tree.
  [[nodiscard]] Node& At(std::string_view quota) const;
  void Connect() const;
  void Connect(const Room& room) const;

  Lineage lineage_;
  std::map<std::string, std::unique_ptr<Node>, std::less<>> nodes_;
  SelectorIndex selectors_;
  std::map<std::string, Namespace, std::less<>> namespaces_;
  std::map<Nodes, std::unique_ptr<Room>> rooms_;
  mutable bool connected_ = false;  // the nodes know their regions
};

}  // namespace quota
