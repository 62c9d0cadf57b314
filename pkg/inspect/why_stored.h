#pragma once

// What `kubectl quota why` tells of a stored object of which nothing else is made: a pod, a volume,
// a binding. It was admitted, so no quota is the reason why it does not run. Only the placement of
// a binding of Karmada can still be refused. Pure; any thread.

#include <string>

#include "pkg/json/value.h"

namespace inspect {

// True if a quota of Karmada refuses to place the binding.
bool IsHeldByQuota(const json::Value& object);
std::string WhyStoredText(const json::Value& object);
// A document like that of a workload, with the object's phase and why it is not scheduled.
json::Value WhyStoredValue(const json::Value& object);

}  // namespace inspect
