#pragma once

// Tells whether an object contains all fields of another one. Pure; any thread.

#include <string_view>

#include "pkg/json/value.h"

namespace inspect {

// True if the values below a member of this name are amounts: "requests".
bool HoldsAmounts(std::string_view member);

// True if every field of `part` is in `whole`. Amounts are compared by value: those below members
// that hold amounts, and all of them if `amounts`. Any other text, as that of an environment
// variable, is compared as it is: "1Gi" and "1024Mi" make two pod templates.
bool IsContained(const json::Value& part, const json::Value& whole, bool amounts = false);

}  // namespace inspect
