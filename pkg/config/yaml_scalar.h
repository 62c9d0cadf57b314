#pragma once

// What an unquoted YAML scalar means; private to this folder. Pure functions; any thread.

#include <optional>
#include <string>
#include <string_view>

#include "pkg/json/value.h"

namespace config {

// Null, a boolean, a number or, if it is none of these, a string; nullopt for the infinities and
// NaN, which JSON does not have.
std::optional<json::Value> ResolveScalar(std::string_view text);

}  // namespace config
