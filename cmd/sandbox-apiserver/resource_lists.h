#pragma once

// Maps of resource names to quantities inside objects, and names of resources. No I/O; any thread.

#include <initializer_list>
#include <string>
#include <string_view>

#include "cmd/sandbox-apiserver/outcome.h"
#include "cmd/sandbox-apiserver/registry.h"
#include "cmd/sandbox-apiserver/validation.h"
#include "pkg/json/value.h"
#include "pkg/quantity/quantity.h"

namespace sandbox {

// Returns the member as a JSON object; nullptr if it is absent or not an object.
json::Value* FindMember(json::Value& value, std::initializer_list<std::string_view> path);

// Rounds each quantity of the map up to milli and prints it canonically, as decoding does.
// Absent maps are fine. Errors: 400 naming the kind.
Outcome<void> NormalizeQuantities(const ResourceType& type, json::Value* list);
// One quantity, by the same rules.
Outcome<void> NormalizeQuantity(const ResourceType& type, json::Value& value);

// Returns the quantity of a normalised member; zero if it is absent or not a quantity.
quantity::Quantity QuantityOf(const json::Value* list, std::string_view name);

// As in kubernetes v1.36.3, pkg/apis/core/helper/helpers.go.
bool IsStandardResource(std::string_view name);
bool IsStandardQuotaResource(std::string_view name);
bool IsIntegerResource(std::string_view name);

// Adds `path[name]: …` for a negative quantity, and for a fraction of a resource that must be an
// integer.
void ValidateQuantity(std::string_view path, std::string_view name, const json::Value& value,
                      FieldErrors& errors);

}  // namespace sandbox
