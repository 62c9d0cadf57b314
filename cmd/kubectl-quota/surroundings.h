#pragma once

// Reading what decides how a manifest is admitted: LimitRanges, RuntimeClasses, default classes,
// nodes, claims. What may not be read is a warning that says what is left out. Single-threaded.

#include <string>

#include "cmd/kubectl-quota/cluster.h"
#include "pkg/inspect/workload.h"

namespace kubectl_quota {

// What may not be read, as warnings; "" of what was.
struct Unread {
  std::string runtime_classes;
  std::string priority_classes;
  std::string storage_classes;
};

// For the namespace; without nodes and claims, which are read only where something needs them.
// Classes that are not for everybody to list are no matter where nothing refers to them: WarnOf().
base::Task<base::Result<inspect::Surroundings>> ReadSurroundings(Cluster& cluster, std::string ns,
                                                                 Unread& unread);
// Warns of what was not read, if what the object asks of these quotas can depend on it.
void WarnOf(const Unread& unread, const json::Value& object,
            const std::vector<quota::Quota>& quotas, Terminal& terminal);
base::Task<base::Result<void>> ReadNodes(Cluster& cluster, inspect::Surroundings& surroundings);
base::Task<base::Result<void>> ReadClaims(Cluster& cluster, std::string ns,
                                          inspect::Surroundings& surroundings);

}  // namespace kubectl_quota
