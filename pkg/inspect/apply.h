#pragma once

// Computes what `kubectl apply` makes of a stored object: it sets the fields of the manifest, and
// deletes the fields that the last manifest set and this one lacks. Pure; any thread.

#include <initializer_list>
#include <string_view>

#include "pkg/json/value.h"

namespace inspect {

// True if the manifest has everything that the last applied one had at the path, so that nothing
// there is deleted. Also true if the stored object does not tell what was applied.
bool KeepsApplied(const json::Value& manifest, const json::Value& stored,
                  std::initializer_list<std::string_view> path);

// Returns what is at the path after the manifest is applied. A field that the manifest omits keeps
// the value that another writer set. nullptr: there is nothing.
const json::Value* AfterApply(const json::Value& manifest, const json::Value& stored,
                              std::initializer_list<std::string_view> path);

// Returns the stored object with the fields that the manifest sets. Members of a list with the same
// name are merged. The status stays as it is, because only the server writes it.
json::Value Overlay(json::Value stored, const json::Value& manifest);

}  // namespace inspect
