#pragma once

// What `kubectl quota why` tells of a stored pod. It was admitted, so no quota is the reason why it
// does not run. Pure; any thread.

#include <string>

#include "pkg/json/value.h"

namespace inspect {

std::string WhyPodText(const json::Value& pod);
// A document like that of a workload, with the pod's phase and why it is not scheduled.
json::Value WhyPodValue(const json::Value& pod);

}  // namespace inspect
