#pragma once

// -o json and -o yaml. Pure; any thread.

#include <string>
#include <string_view>

#include "pkg/json/value.h"

namespace kubectl_quota {

inline bool IsDocument(std::string_view output) { return output == "json" || output == "yaml"; }

// REQUIRES: IsDocument(output).
std::string PrintDocument(const json::Value& value, std::string_view output);

}  // namespace kubectl_quota
