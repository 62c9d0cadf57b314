#pragma once

// What the model's API server says that it serves (apidiscovery.k8s.io/v2).

#include "pkg/client/api_client.h"

namespace simulation {

// Of "/api" and "/apis": one of them is `ours`, the other is empty.
client::ApiResponse Discover(bool ours, bool ironcore);

}  // namespace simulation
