#pragma once

// The pods that Services select, for the number of their EndpointSlices. Single-threaded.

#include <string>
#include <vector>

#include "cmd/kubectl-quota/check_inputs.h"
#include "cmd/kubectl-quota/cluster.h"
#include "pkg/inspect/workload.h"

namespace kubectl_quota {

// Adds the stored pods to those of the manifests: Surroundings::labelled. Those with the labels of
// a manifest's pods are counted by it. Leaves them out, and doubts, if pods may not be listed.
base::Task<base::Result<void>> ReadStoredPods(Cluster& cluster, std::string ns,
                                              inspect::Surroundings& surroundings);
// Returns the EndpointSlices that stored Services lack for the pods of the manifests. Call after
// ReadStoredPods().
base::Task<base::Result<inspect::Expansion>> LackingSlices(
    Cluster& cluster, std::string ns, const std::vector<inspect::Manifest>& manifests,
    const inspect::Surroundings& surroundings);

}  // namespace kubectl_quota
