#pragma once

// Reading what decides how a manifest is admitted: LimitRanges, RuntimeClasses, default classes,
// nodes, claims. What may not be read is a warning that says what is left out. Single-threaded.

#include <string>

#include "cmd/kubectl-quota/cluster.h"
#include "pkg/inspect/workload.h"

namespace kubectl_quota {

// For the namespace; without nodes and claims, which are read only where something needs them.
base::Task<base::Result<inspect::Surroundings>> ReadSurroundings(Cluster& cluster, std::string ns);
base::Task<base::Result<void>> ReadNodes(Cluster& cluster, inspect::Surroundings& surroundings);
base::Task<base::Result<void>> ReadClaims(Cluster& cluster, std::string ns,
                                          inspect::Surroundings& surroundings);

}  // namespace kubectl_quota
