#pragma once

// Reads what the controller of a stored workload has made of it. Single-threaded.

#include <optional>
#include <string>

#include "cmd/kubectl-quota/cluster.h"
#include "pkg/inspect/made.h"

namespace kubectl_quota {

// Reads the pods and the ReplicaSets or ControllerRevisions of a Deployment, StatefulSet, DaemonSet
// or Job that is a hook of Helm, and the claims of the pods if they have some. nullopt: the object
// is another one, or its pods may not be listed. Other lists that may not be read are left out with
// a warning.
base::Task<base::Result<std::optional<inspect::Made>>> ReadMade(Cluster& cluster, std::string ns,
                                                                json::Value stored);

}  // namespace kubectl_quota
