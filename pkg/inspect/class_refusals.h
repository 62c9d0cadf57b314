#pragma once

// What the admission plugins Priority and RuntimeClass refuse of a pod (kubernetes v1.36.3,
// plugin/pkg/admission). Pure; any thread.

#include <string>
#include <vector>

#include "pkg/inspect/admitted.h"
#include "pkg/json/value.h"

namespace inspect {

// Returns what they refuse before the server validates the pod, in the order of the plugins.
std::vector<std::string> ClassRefusals(const json::Value& pod, const Defaults& defaults);
// Returns what they refuse of a valid pod.
std::vector<std::string> OverheadRefusals(const json::Value& pod, const Defaults& defaults);

}  // namespace inspect
