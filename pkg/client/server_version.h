#pragma once

// Asks the API server for its version of Kubernetes.

#include "pkg/api/kubernetes_version.h"
#include "pkg/base/asio.h"
#include "pkg/base/error.h"
#include "pkg/client/api_client.h"

namespace client {

// Errors: of the request; kMalformed.
base::Task<base::Result<api::KubernetesVersion>> ReadServerVersion(ApiClient& client);

}  // namespace client
