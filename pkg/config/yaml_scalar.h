#pragma once

// The meaning of an unquoted YAML scalar; private to this folder. Pure functions; any thread.

#include <optional>
#include <string>
#include <string_view>

#include "pkg/json/value.h"

namespace config {

// Returns null, a boolean, a number or, if it is none of these, a string; nullopt for infinities
// and NaN, which JSON does not have.
std::optional<json::Value> ResolveScalar(std::string_view text);

}  // namespace config
