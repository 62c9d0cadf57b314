#pragma once

// Quantities and resource lists in API objects: strings, numbers or null (apimachinery v0.36.3,
// pkg/api/resource/quantity.go, UnmarshalJSON). Pure functions; any thread.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/json/value.h"
#include "pkg/quota/resource_list.h"

namespace quota {

// Null is zero, and white space around a string is ignored, as in the API server. Errors:
// kMalformed, "<field>: <what is wrong>".
base::Result<Quantity> QuantityFrom(const json::Value& value, std::string_view field);

// An object of quantities, as far as it can be read.
struct ReadableAmounts {
  ResourceList list;
  std::vector<std::string> unreadable;  // names whose amounts cannot be read
  // The first thing that is wrong: "<field>[<name>]: <what>", or "<field>: must be an object, …",
  // which no names can be read of; "": nothing is.
  std::string why;
};

// Whether a negative amount counts as unreadable.
enum class Negative { kReadable, kUnreadable };

// Reads what can be read; absent (nullptr) and null are the empty list. Names for which `wanted` is
// false are passed over (null: none).
ReadableAmounts ReadAmounts(const json::Value* value, std::string_view field, Negative negative,
                            const std::function<bool(std::string_view)>& wanted = {});

// Reads an object of quantities; absent (nullptr) and null are the empty list. Errors: kMalformed,
// "<field>[<name>]: <what is wrong>".
base::Result<ResourceList> ResourceListFrom(const json::Value* value, std::string_view field);

// The object that ResourceListFrom() reads back.
json::Object ToJson(const ResourceList& list);

}  // namespace quota
