#pragma once

// Quantities and resource lists in API objects: strings, numbers or null (apimachinery v0.36.3,
// pkg/api/resource/quantity.go, UnmarshalJSON). Pure functions; any thread.

#include <string_view>

#include "pkg/base/error.h"
#include "pkg/json/value.h"
#include "pkg/quota/resource_list.h"

namespace quota {

// Null is zero, and white space around a string is ignored, as in the API server. Errors:
// kMalformed, "<field>: <what is wrong>".
base::Result<Quantity> QuantityFrom(const json::Value& value, std::string_view field);

// Reads an object of quantities; absent (nullptr) and null are the empty list. Errors: kMalformed,
// "<field>[<name>]: <what is wrong>".
base::Result<ResourceList> ResourceListFrom(const json::Value* value, std::string_view field);

// The object that ResourceListFrom() reads back.
json::Object ToJson(const ResourceList& list);

}  // namespace quota
