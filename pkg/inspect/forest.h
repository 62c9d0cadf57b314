#pragma once

// All ClusterQuotas of a cluster as trees, and those that a namespace is under. Values; one thread.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/json/value.h"
#include "pkg/quota/cluster/quota_tree.h"
#include "pkg/quota/decision.h"

namespace inspect {

// The ClusterQuotas of one namespace, nearest first. Parents are indices here.
struct Reached {
  std::vector<quota::Quota> quotas;
  std::vector<quota::TreePlace> places;
};

class Forest {
 public:
  // Each has Quota::cluster.
  explicit Forest(std::vector<quota::Quota> quotas);

  [[nodiscard]] bool empty() const { return quotas_.empty(); }
  // nullptr: there is none.
  [[nodiscard]] const quota::Quota* Find(std::string_view name) const;
  // Where it is; nullptr for a quota that there is not.
  [[nodiscard]] const quota::Lineage::Member* Place(std::string_view name) const;
  // The quotas that have no other above them, by name.
  [[nodiscard]] std::vector<std::string> Roots() const;
  // By name.
  [[nodiscard]] std::vector<std::string> Names() const;
  // `labels`: of a namespace; nullptr: none.
  [[nodiscard]] Reached ReachOf(const json::Value* labels) const;
  // What may still be used in its namespaces, of the names that are counted: as status.available
  // says, else as it follows from status.used of the quota and of those around it.
  [[nodiscard]] quota::ResourceList AvailableOf(std::string_view name) const;
  // Why a quota is not where its spec wants it.
  [[nodiscard]] std::optional<quota::QuotaTree::Flaw> FlawOf(std::string_view name) const {
    return tree_.FlawOf(name);
  }
  // From now on this is used, too, of what is counted.
  void Charge(std::string_view name, const quota::ResourceList& amounts);

 private:
  [[nodiscard]] Reached Collect(const quota::QuotaTree::Reach& reach) const;

  std::map<std::string, quota::Quota, std::less<>> quotas_;
  quota::QuotaTree tree_;
};

// "Deny", "Warn", "Audit".
std::string_view ModeText(const quota::Quota& quota);
// True if it only tells of what it would refuse.
bool IsTried(const quota::Quota& quota);
// How a ClusterQuota is called beside others: "clusterquota/team-a".
std::string TitleOf(const quota::Quota& quota);

// True if the status is not about the spec as it is now.
bool LagsBehind(const quota::Quota& quota);
// Why its status may not be the truth; "" if nothing says so, or there is none yet.
std::string WhyUncertain(const quota::Quota& quota);

}  // namespace inspect
