#pragma once

// Node ports of services, as a kube-apiserver keeps them: given to each port of a service whose
// type has them, kept through updates that leave them out, and taken away when the type no longer
// has them. Quota counts them (kubernetes v1.36.3, pkg/quota/v1/evaluator/core/services.go). Pure;
// any thread.

#include <cstdint>
#include <set>

#include "pkg/json/value.h"

namespace sandbox {

// On an update: what the server had assigned is kept where the client left it out, and dropped
// where the new type has no use for it.
void CarryNodePorts(json::Value& service, const json::Value& old);

// Adds the node ports that the service has to `taken`.
void CollectNodePorts(const json::Value& service, std::set<std::int64_t>& taken);

// Gives a port out of 30000 to 32767 that is not in `taken` to each that needs one. False if there
// are none left.
bool AssignNodePorts(json::Value& service, std::set<std::int64_t> taken);

}  // namespace sandbox
