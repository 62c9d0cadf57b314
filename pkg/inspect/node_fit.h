#pragma once

// Tells on which nodes a DaemonSet runs a pod: node selector, required node affinity, and tolerated
// taints (kubernetes v1.36.3, pkg/controller/daemon/daemon_controller.go). Pure; any thread.

#include "pkg/json/value.h"

namespace inspect {

// The needed fields of nodes, separated by blanks.
inline constexpr const char* kNodeFields = "metadata.labels spec.taints";

// True if a pod with this spec, made by a DaemonSet, belongs on the node.
bool DaemonRunsOn(const json::Value& pod_spec, const json::Value& node);

}  // namespace inspect
