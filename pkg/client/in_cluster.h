#pragma once

// The connection of a pod: its service account's files and the environment that Kubernetes sets
// (client-go v0.36.3, rest/config.go). Any thread.

#include <string>

#include "pkg/base/error.h"
#include "pkg/client/cluster_config.h"

namespace client {

// True when the environment says that this is a pod.
bool RunsInCluster(const Environment& environment);

// REQUIRES: RunsInCluster(). An unreadable CA is only logged, the system's roots are used then.
// Errors: kInvalidArgument for a token that is missing or empty.
base::Result<ClusterConfig> InClusterConfig(const Environment& environment,
                                            const std::string& service_account);

}  // namespace client
