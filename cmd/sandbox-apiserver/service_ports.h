#pragma once

// Node ports of services, as a kube-apiserver keeps them: assigned to each port of a service whose
// type needs them, kept by an update that omits them, removed when the type no longer needs them.
// Quota counts them (kubernetes v1.36.3, pkg/quota/v1/evaluator/core/services.go). Pure; any
// thread.

#include <cstdint>
#include <set>

#include "pkg/json/value.h"

namespace sandbox {

// On an update: keeps an assigned port that the client omits, and removes it if the new type does
// not need it.
void CarryNodePorts(json::Value& service, const json::Value& old);

// Adds the service's node ports to `taken`.
void CollectNodePorts(const json::Value& service, std::set<std::int64_t>& taken);

// Assigns a port from 30000 to 32767 that is not in `taken` to each port that needs one. Returns
// false if no port is free.
bool AssignNodePorts(json::Value& service, std::set<std::int64_t> taken);

}  // namespace sandbox
