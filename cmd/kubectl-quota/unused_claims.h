#pragma once

#include <set>
#include <string>

#include "cmd/kubectl-quota/cluster.h"
#include "pkg/inspect/unused_claims.h"

namespace kubectl_quota {

// Finds the claims in these namespaces that no pod uses. If claims do not say it themselves and the
// user may not list pods, these claims are left out, with a warning.
base::Task<base::Result<inspect::UnusedClaims>> ReadUnusedClaims(Cluster& cluster,
                                                                 std::set<std::string> namespaces);

// Adds the pods of a namespace, or of all ("").
base::Task<base::Result<void>> AddPods(Cluster& cluster, std::string ns,
                                       inspect::UnusedClaims& claims);

}  // namespace kubectl_quota
