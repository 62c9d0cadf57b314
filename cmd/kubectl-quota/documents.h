#pragma once

// -o json and -o yaml. Pure; any thread.

#include <string>
#include <string_view>

#include "cmd/kubectl-quota/terminal.h"
#include "pkg/json/value.h"

namespace kubectl_quota {

inline bool IsDocument(std::string_view output) { return output == "json" || output == "yaml"; }

// REQUIRES: IsDocument(output).
std::string PrintDocument(const json::Value& value, std::string_view output);

// Adds what could not be seen, as `check` has it: "unknown".
void AddUnknown(const Terminal& terminal, json::Value& document);

}  // namespace kubectl_quota
