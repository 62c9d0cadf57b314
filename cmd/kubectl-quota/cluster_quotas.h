#pragma once

// Reads ClusterQuotas and finds those that limit a namespace. Single-threaded.

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cmd/kubectl-quota/cluster.h"
#include "pkg/inspect/forest.h"

namespace kubectl_quota {

// Returns the Namespace; null if it does not exist.
base::Task<base::Result<json::Value>> NamespaceOf(Cluster& cluster, std::string ns);
// The server's words for that.
std::string NoSuchNamespace(const std::string& ns);

// Returns all ClusterQuotas; nullptr if the server does not serve the kind. Errors: of the list.
base::Task<base::Result<std::unique_ptr<inspect::Forest>>> ReadForest(Cluster& cluster);

// Returns the ClusterQuotas that limit a namespace. A namespace that does not exist yet is taken to
// have only the label that the API server sets. A `manifest` of the namespace, which may be null,
// is applied first; if that brings it under a quota, a warning says that its usage is not counted
// there yet. Errors: of reading the namespace.
base::Task<base::Result<inspect::Reached>> ReachOf(Cluster& cluster, const inspect::Forest& forest,
                                                   std::string ns, json::Value manifest = {});

// Warns that the answer does without ClusterQuotas, and why.
void WarnLeftOut(Cluster& cluster, const base::Error& error);

// Returns true for "clusterquota/team-a" and "clq/team-a".
bool IsClusterQuota(const std::string& wanted);
// Returns "team-a" for these, and for "team-a".
std::string NameOfClusterQuota(const std::string& wanted);

// The errors for a name that does not exist, and for a server without ClusterQuotas.
base::Error NoSuchClusterQuota(const std::string& wanted, const inspect::Forest& forest);
base::Error NoClusterQuotas(const Cluster& cluster);

// Returns the namespaces that the quota limits. Errors: of listing namespaces.
base::Task<base::Result<std::set<std::string>>> NamespacesOf(Cluster& cluster,
                                                             inspect::Forest& forest,
                                                             std::string quota);

}  // namespace kubectl_quota
