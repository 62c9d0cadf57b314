#pragma once

// Who wrote a field last: metadata.managedFields, which an API server keeps for every writer by the
// fieldManager of its requests. Any thread.

#include <initializer_list>
#include <optional>
#include <string_view>

#include "pkg/json/value.h"

namespace api {

// The manager that updated the field at this path, e.g. {"status", "used", "pods"}; the view lives
// as long as the object. nullopt if no entry names the field: somebody applied it, or the server
// keeps no such record.
std::optional<std::string_view> UpdaterOf(const json::Value& object,
                                          std::initializer_list<std::string_view> path);

}  // namespace api
