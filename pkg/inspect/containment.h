#pragma once

// Whether one object asks for nothing that another one does not have already. Pure; any thread.

#include "pkg/json/value.h"

namespace inspect {

// True if every field of `part` is in `whole`, quantities by value.
bool IsContained(const json::Value& part, const json::Value& whole);

}  // namespace inspect
