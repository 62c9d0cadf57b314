#pragma once

// The rule of projections, applied to a whole value. Decoders must agree with it.

#include "pkg/json/projection.h"
#include "pkg/json/value.h"

namespace fuzz {

// Without a bound of lists: a repeated member counts against it, and is not in the value.
inline json::Value Kept(const json::Value& value, const json::Projection::Node& node) {
  if (node.KeepsAll()) return value;
  if (const json::Array* array = value.AsArray()) {
    json::Array kept;
    for (const json::Value& element : *array) kept.push_back(Kept(element, node));
    return kept;
  }
  const json::Object* const object = value.AsObject();
  if (object == nullptr) return value;
  json::Object kept;
  for (const auto& [name, member] : *object) {
    if (const auto* wanted = node.Find(name)) kept.Set(name, Kept(member, *wanted));
  }
  return kept;
}

}  // namespace fuzz
