#pragma once

// The discovery answers of a server with few kinds. Pure functions; any thread.

#include <string>
#include <utility>
#include <vector>

namespace bench {

// Namespaced kinds of v1, by resource ({"pods", "Pod"}).
using Kinds = std::vector<std::pair<std::string, std::string>>;

inline constexpr const char* kDiscoveryType =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

// The body for /api; with no kinds, the one for /apis.
std::string DiscoveryText(const Kinds& kinds);
// The body for /apis of a server with ClusterQuotas.
std::string DiscoveryOfClusterQuotas();

}  // namespace bench
