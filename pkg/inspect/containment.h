#pragma once

// Tells whether an object contains all fields of another one. Pure; any thread.

#include "pkg/json/value.h"

namespace inspect {

// True if every field of `part` is in `whole`, quantities by value.
bool IsContained(const json::Value& part, const json::Value& whole);

}  // namespace inspect
