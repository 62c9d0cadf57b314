#pragma once

// Who last wrote a field, from metadata.managedFields. An API server records every writer there by
// the fieldManager of its requests. Any thread.

#include <initializer_list>
#include <optional>
#include <string_view>

#include "pkg/json/value.h"

namespace api {

// Returns the manager that updated the field at this path, e.g. {"status", "used", "pods"}. The
// view lives as long as the object. nullopt if no entry names the field: it was written by apply,
// or the server keeps no managedFields.
std::optional<std::string_view> UpdaterOf(const json::Value& object,
                                          std::initializer_list<std::string_view> path);

}  // namespace api
