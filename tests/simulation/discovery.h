#pragma once

// The discovery documents of the model's API server (apidiscovery.k8s.io/v2).

#include "pkg/client/api_client.h"
#include "tests/simulation/objects.h"

namespace simulation {

// The document of "/api" if `legacy`, else of "/apis".
client::ApiResponse Discover(bool legacy, Api api);

}  // namespace simulation
