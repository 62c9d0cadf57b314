#pragma once

// Reads the ClusterQuotas above a namespace from the daemon's AppliedClusterQuotas, for users who
// may not list ClusterQuotas. Single-threaded.

#include <string>
#include <vector>

#include "cmd/kubectl-quota/cluster.h"

namespace kubectl_quota {

// Returns them as ClusterQuotas (inspect::QuotaOfApplied()), and warns that they may be outdated.
// Empty if there are none, if the kind is not served, or if the user may not list it either.
// Another failure is a warning.
base::Task<std::vector<quota::Quota>> AppliedQuotas(Cluster& cluster, std::string ns);

}  // namespace kubectl_quota
