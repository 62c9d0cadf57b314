#pragma once

// The JSONPath of printer columns: .name, ['name'], [2], [*], [?(@.type=="Ready")]. Any thread.

#include <string_view>

#include "pkg/json/value.h"

namespace sandbox {

// Returns the first result; nullptr if there is none, or if the path has another form.
const json::Value* FirstByPath(const json::Value& object, std::string_view path);

}  // namespace sandbox
