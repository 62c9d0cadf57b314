#pragma once

// The ClusterQuotas that limit one namespace, as its AppliedClusterQuotas show them. Values; one
// thread.

#include <string>
#include <vector>

#include "pkg/inspect/forest.h"
#include "pkg/json/value.h"
#include "pkg/quota/quota.h"

namespace inspect {

// Returns the ClusterQuota that an AppliedClusterQuota shows; it selects no namespaces. Errors: as
// of quota::ParseQuota().
base::Result<quota::Quota> QuotaOfApplied(const json::Value& object);

// All ClusterQuotas that limit one namespace, without the other quotas of their trees. What is
// guaranteed to these follows from status.guaranteedBelow.
class AppliedForest {
 public:
  // `quotas` are of QuotaOfApplied().
  explicit AppliedForest(std::vector<quota::Quota> quotas);

  // Returns all of them, as Forest::ReachOf() does. A quota that has a descendant here is taken to
  // select the namespace only through it.
  [[nodiscard]] Reached Reach() const;
  // As Forest::Charge().
  void Charge(std::string_view name, const quota::ResourceList& amounts) {
    forest_.Charge(name, amounts);
  }

 private:
  Forest forest_;
  std::vector<quota::ResourceList> promised_to_others_;  // by each quota of Reach()
};

}  // namespace inspect
