#pragma once

// On which nodes a DaemonSet puts a pod: node selector, required node affinity, and taints that are
// not tolerated (kubernetes v1.36.3, pkg/controller/daemon/daemon_controller.go). Pure; any thread.

#include "pkg/json/value.h"

namespace inspect {

// The fields of nodes that are read, divided by blanks.
inline constexpr const char* kNodeFields = "metadata.labels spec.taints";

// True if a pod with this spec, made by a DaemonSet, belongs on the node.
bool DaemonRunsOn(const json::Value& pod_spec, const json::Value& node);

}  // namespace inspect
