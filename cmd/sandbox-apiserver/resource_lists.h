#pragma once

// Maps of resource names to quantities inside objects. No I/O; any thread.

#include <initializer_list>
#include <string>
#include <string_view>

#include "cmd/sandbox-apiserver/outcome.h"
#include "cmd/sandbox-apiserver/registry.h"
#include "pkg/json/value.h"
#include "pkg/quantity/quantity.h"

namespace sandbox {

// Returns the member as a JSON object; nullptr if it is absent or not an object.
json::Value* FindMember(json::Value& value, std::initializer_list<std::string_view> path);

// Rounds each quantity of the map up to milli and prints it canonically, as decoding does.
// Absent maps are fine. Errors: 400 naming the kind.
Outcome<void> NormalizeQuantities(const ResourceType& type, json::Value* list);
// Returns the quantity of a normalised member; zero if it is absent or not a quantity.
quantity::Quantity QuantityOf(const json::Value* list, std::string_view name);

}  // namespace sandbox
