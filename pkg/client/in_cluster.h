#pragma once

// The API server connection of a pod: its service account's files and the environment that
// Kubernetes sets (client-go v0.36.3, rest/config.go). Any thread.

#include <string>

#include "pkg/base/error.h"
#include "pkg/client/cluster_config.h"

namespace client {

// True if the environment is that of a pod.
bool RunsInCluster(const Environment& environment);

// REQUIRES: RunsInCluster(). An unreadable CA is only logged; then the system's roots are trusted.
// Flags of the caller take the place of what the service account gives. Errors: kInvalidArgument if
// the token is missing or empty.
base::Result<ClusterConfig> InClusterConfig(const Environment& environment,
                                            const std::string& service_account,
                                            const Caller& caller = {});

}  // namespace client
