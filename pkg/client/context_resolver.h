#pragma once

// From one context of a kubeconfig to a connection: every rule on what may stand together
// (client-go v0.36.3, tools/clientcmd/validation.go and client_config.go). Reads the certificate
// and token files that the context names. Only the entries in use are judged. Errors:
// kInvalidArgument, naming file, entry and field. Any thread.

#include <string>

#include "pkg/base/error.h"
#include "pkg/client/cluster_config.h"
#include "pkg/client/kubeconfig.h"

namespace client {

// `context` "" is the current context; `files` names the kubeconfig in messages.
base::Result<ClusterConfig> ResolveContext(const Kubeconfig& config, const std::string& context,
                                           const std::string& files,
                                           const Environment& environment);

}  // namespace client
