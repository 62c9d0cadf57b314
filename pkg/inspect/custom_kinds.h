#pragma once

// What is known about kinds that are not Kubernetes' own. Pure; any thread.

#include "pkg/json/value.h"

namespace inspect {

// True if controllers may make pods, claims or other counted objects of it: its spec mentions pods
// or what they need, or its kind is known for it.
bool MayMakeMore(const json::Value& object);

}  // namespace inspect
