#pragma once

// Reads what affects the admission of manifests: LimitRanges, RuntimeClasses, default classes,
// nodes, autoscalers, claims and their templates. If something may not be read, a warning says what
// is left out. Single-threaded.

#include <set>
#include <string>
#include <vector>

#include "cmd/kubectl-quota/cluster.h"
#include "cmd/kubectl-quota/policies.h"
#include "pkg/inspect/workload.h"

namespace kubectl_quota {

// Warnings about unreadable collections; "" for each one that was read.
struct Unread {
  std::string runtime_classes;
  std::string priority_classes;
  std::string storage_classes;
  std::string autoscalers;
};

// Reads for one namespace, without nodes and claims, which are read only if needed. Unreadable
// classes matter only if an object refers to them: see WarnOf(). Classes of the manifests replace
// those of the same name. `ranges`, if given, gets the LimitRanges.
base::Task<base::Result<inspect::Surroundings>> ReadSurroundings(
    Cluster& cluster, std::string ns, Unread& unread, ClusterPolicies policies = {},
    std::vector<json::Value>* ranges = nullptr);
// Warns about unread parts that can affect what the object needs of these quotas.
void WarnOf(const Unread& unread, const json::Value& object,
            const std::vector<quota::Quota>& quotas, Terminal& terminal);
// Leaves out `nodes_for`, with a warning, if nodes may not be listed.
base::Task<base::Result<void>> ReadNodes(Cluster& cluster, inspect::Surroundings& surroundings);
// Reads the HorizontalPodAutoscalers of the namespace; those of the manifests replace those of the
// same name.
base::Task<base::Result<void>> ReadAutoscalers(Cluster& cluster, std::string ns,
                                               std::vector<json::Value> manifests, Unread& unread,
                                               inspect::Surroundings& surroundings);
base::Task<base::Result<void>> ReadClaims(Cluster& cluster, std::string ns,
                                          inspect::Surroundings& surroundings);
// Reads those of the named ResourceClaimTemplates that are not known yet, and that exist. REQUIRES:
// surroundings.claim_templates has a value.
base::Task<base::Result<void>> ReadClaimTemplates(Cluster& cluster, std::string ns,
                                                  std::set<std::string> names,
                                                  inspect::Surroundings& surroundings);

}  // namespace kubectl_quota
