#pragma once

// Turns one context of a kubeconfig into a connection, with upstream's rules on which fields may be
// combined (client-go v0.36.3, tools/clientcmd/validation.go and client_config.go). Reads the
// certificate and token files that the context names. Checks only the entries in use. Errors:
// kInvalidArgument, naming file, entry and field. Any thread.

#include <string>

#include "pkg/base/error.h"
#include "pkg/client/cluster_config.h"
#include "pkg/client/kubeconfig.h"

namespace client {

// An empty `context` means the current context. `files` names the kubeconfig in messages. Flags of
// the caller take the place of what the entries have; a server or a cluster among them makes the
// context unnecessary.
base::Result<ClusterConfig> ResolveContext(const Kubeconfig& config, const std::string& context,
                                           const std::string& files, const Environment& environment,
                                           const Caller& caller = {});

}  // namespace client
