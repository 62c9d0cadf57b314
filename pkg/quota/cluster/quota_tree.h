#pragma once

// Which ClusterQuotas reach which namespaces. A quota reaches the namespaces that it, or a quota
// below it, selects: a set, so a namespace that several quotas of a subtree select is in it once.
// Namespaces that the same quotas select share a room, so that a thousand quotas over all
// namespaces cost one list. No I/O; not thread-safe.

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
    std::string above;  // a quota below it that selects the namespace; "": it does itself
    bool operator==(const Reaching&) const = default;
  };
  // Deepest first, then by name: no quota stands before one that is below it.
  using Reach = std::vector<Reaching>;

  // Names, sorted.
  struct Change {
    std::vector<std::string> namespaces;  // that other quotas reach than before
    // Whose parent, children, depth, condition or number of namespaces may differ, or what is
    // guaranteed beside them.
    std::vector<std::string> quotas;
    [[nodiscard]] bool empty() const { return namespaces.empty() && quotas.empty(); }
  };

  // Why a quota is not where its spec wants it.
  struct Flaw {
    std::string reason;  // ParentNotFound, ParentCycle or GuaranteedExceedsParent
    std::string message;
  };

  QuotaTree();
  ~QuotaTree();
  QuotaTree(const QuotaTree&) = delete;
  QuotaTree& operator=(const QuotaTree&) = delete;

  // Quotas must have Quota::cluster. Cost nothing where the spec is as before, else O(quotas +
  // namespaces).
  Change PutQuota(const Quota& quota);
  Change RemoveQuota(std::string_view name);
  // `labels` is metadata.labels; nullptr: none. Cost O(quotas).
  Change PutNamespace(std::string_view ns, const json::Value* labels);
  Change RemoveNamespace(std::string_view ns);

  [[nodiscard]] bool KnowsNamespace(std::string_view ns) const;
  // Empty also for a namespace that is not known.
  [[nodiscard]] const Reach& QuotasOf(std::string_view ns) const;
  // The same for any namespace with these labels.
  [[nodiscard]] Reach QuotasFor(const json::Value* labels) const;
  // The quota and all above it, from below; empty if it is not known.
  [[nodiscard]] Reach WayUp(std::string_view quota) const;
  // Namespaces with a quota in common have the same region, and so have those that are linked by
  // further namespaces with quotas in common: quotas of two regions differ. The name of a quota; ""
  // where none reaches. The first question after a change costs O(rooms).
  [[nodiscard]] std::string_view RegionOf(std::string_view ns) const;
  // 0 for a quota that is not known.
  [[nodiscard]] std::size_t CountNamespaces(std::string_view quota) const;
  // In no order.
  void VisitNamespaces(std::string_view quota,
                       const std::function<void(std::string_view ns)>& visit) const;
  // Its parent and children; null if the quota is not known. Valid until it is removed.
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
