#pragma once

// The PodGroups of a namespace, and their pods. Single-threaded.

#include <string>

#include "cmd/kubectl-quota/cluster.h"
#include "pkg/inspect/gangs.h"

namespace kubectl_quota {

// Reads the PodGroup of this name, unless it is known. Without it, or if it may not be read, what
// it shares with its pods counts for each of them, and whether it is a gang is not known.
base::Task<base::Result<void>> ReadPodGroup(Cluster& cluster, std::string ns, std::string name,
                                            inspect::PodGroups& groups);

// Counts the pods that run or will run. Leaves them out, with a warning, if they may not be listed.
base::Task<base::Result<inspect::Members>> CountMembers(Cluster& cluster, std::string ns);

}  // namespace kubectl_quota
