#pragma once

// Reading ClusterQuotas, and which of them a namespace is under. Single-threaded.

#include <memory>
#include <string>

#include "cmd/kubectl-quota/cluster.h"
#include "pkg/inspect/forest.h"

namespace kubectl_quota {

// All of them; nullptr if the server does not serve any. Errors: of the list.
base::Task<base::Result<std::unique_ptr<inspect::Forest>>> ReadForest(Cluster& cluster);

// The same beside other quotas: empty where they are not served, not for the user to list, or only
// quotas with certain labels are asked about. Another failure is a warning.
base::Task<std::unique_ptr<inspect::Forest>> ForestIfAny(Cluster& cluster, std::string selector);

// The ClusterQuotas of a namespace; one that there is not has only the label that each gets.
// Errors: of reading the namespace.
base::Task<base::Result<inspect::Reached>> ReachOf(Cluster& cluster, const inspect::Forest& forest,
                                                   std::string ns);
// The same; a failure is a warning, and so is a status that may not be the truth.
base::Task<inspect::Reached> ReachIfKnown(Cluster& cluster, const inspect::Forest& forest,
                                          std::string ns);

}  // namespace kubectl_quota
