#pragma once

// What the model's API server says that it serves (apidiscovery.k8s.io/v2).

#include "pkg/client/api_client.h"
#include "tests/simulation/objects.h"

namespace simulation {

// Of "/api" if `legacy`, else of "/apis".
client::ApiResponse Discover(bool legacy, Api api);

}  // namespace simulation
