#pragma once

// Finds out which ResourceBindings Karmada makes of the objects in a namespace. Single-threaded.

#include <optional>
#include <string>
#include <vector>

#include "cmd/kubectl-quota/books.h"
#include "cmd/kubectl-quota/cluster.h"
#include "cmd/kubectl-quota/policies.h"
#include "pkg/inspect/manifest.h"
#include "pkg/inspect/propagation.h"

namespace kubectl_quota {

// Returns what the manifests and the policies of the files tell; nullopt if none of the quotas
// counts bindings.
std::optional<inspect::Propagation> PropagationIn(const std::vector<inspect::Manifest>& manifests,
                                                  const ClusterPolicies& policies,
                                                  const Books& books);

// Adds those of the cluster, which the files replace. What may not be listed is a doubt.
base::Task<base::Result<void>> ReadPropagation(Cluster& cluster, std::string ns,
                                               inspect::Propagation& propagation);

// Returns the stored binding of an object; null if there is none, or if bindings may not be read,
// which is a warning.
base::Task<base::Result<json::Value>> StoredBinding(Cluster& cluster, std::string ns,
                                                    std::string name);

}  // namespace kubectl_quota
