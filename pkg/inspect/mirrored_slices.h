#pragma once

// EndpointSlices that a controller makes of the Endpoints of Services without a selector
// (kubernetes v1.36.3, pkg/controller/endpointslicemirroring). Pure; any thread.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "pkg/inspect/workload.h"
#include "pkg/json/value.h"

namespace inspect {

// How many EndpointSlices there are, by the name of their Service.
using SliceCounts = std::map<std::string, std::int64_t, std::less<>>;

// Returns how many EndpointSlices mirror the Endpoints: one for each family of addresses and each
// set of ports. 0 also if a label or a leader's annotation forbids it.
std::int64_t MirrorsOf(const json::Value& endpoints);

// Returns the mirrors that the Endpoints lack. `services` and `endpoints` are all of a namespace,
// and `present` the mirrors that there are.
Expansion LackingMirrors(const std::vector<json::Value>& services,
                         const std::vector<json::Value>& endpoints, const SliceCounts& present);

}  // namespace inspect
