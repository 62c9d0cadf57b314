#pragma once

// The ClusterQuotas of a cluster as trees, and which of them limit a namespace. Values; one thread.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/json/value.h"
#include "pkg/quota/cluster/quota_tree.h"
#include "pkg/quota/decision.h"

namespace inspect {

// The ClusterQuotas that limit one namespace, nearest first. TreePlace::parent is an index into
// `quotas`.
struct Reached {
  std::vector<quota::Quota> quotas;
  std::vector<quota::TreePlace> places;
};

class Forest {
 public:
  // REQUIRES: each quota has Quota::cluster.
  explicit Forest(std::vector<quota::Quota> quotas);

  [[nodiscard]] bool empty() const { return quotas_.empty(); }
  // nullptr: there is no such quota.
  [[nodiscard]] const quota::Quota* Find(std::string_view name) const;
  // Returns its place in the tree; nullptr if there is no such quota.
  [[nodiscard]] const quota::Lineage::Member* Place(std::string_view name) const;
  // Returns the names of the quotas without a parent, sorted.
  [[nodiscard]] std::vector<std::string> Roots() const;
  // Returns all names, sorted.
  [[nodiscard]] std::vector<std::string> Names() const;
  // Returns the quotas that limit a namespace with these labels; nullptr means no labels.
  [[nodiscard]] Reached ReachOf(const json::Value* labels) const;
  // Adds a namespace of the cluster; `labels` as above.
  void AddNamespace(std::string_view ns, const json::Value* labels);
  // Returns those added namespaces that the quota limits.
  [[nodiscard]] std::set<std::string> NamespacesOf(std::string_view name) const;
  // Returns how much more the namespaces of a quota may use, for names with a count:
  // status.available if present, else computed from status.used of the quota and of the quotas
  // around it.
  [[nodiscard]] quota::ResourceList AvailableOf(std::string_view name) const;
  // Returns what is wrong with a quota's place in the tree.
  [[nodiscard]] std::optional<quota::QuotaTree::Flaw> FlawOf(std::string_view name) const {
    return tree_.FlawOf(name);
  }
  // Adds `amounts` to the usage of a quota, for names with a count.
  void Charge(std::string_view name, const quota::ResourceList& amounts);

 private:
  [[nodiscard]] Reached Collect(const quota::QuotaTree::Reach& reach) const;

  std::map<std::string, quota::Quota, std::less<>> quotas_;
  quota::QuotaTree tree_;
};

// "Deny", "Warn", "Audit".
std::string_view ModeText(const quota::Quota& quota);
// True for the modes Warn and Audit: the quota never refuses.
bool IsTried(const quota::Quota& quota);
// The name in messages: "clusterquota/team-a", or "compute" for a quota of a namespace.
std::string TitleOf(const quota::Quota& quota);

// True if the status belongs to an older generation of the spec.
bool LagsBehind(const quota::Quota& quota);
// Returns why the status may be wrong; "" if it has no sign of that, or if there is no status.
std::string WhyUncertain(const quota::Quota& quota);

}  // namespace inspect
