#pragma once

// Short forms for tests of pkg/quota.

#include <catch2/catch.hpp>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "pkg/json/value.h"
#include "pkg/quota/facts.h"
#include "pkg/quota/resource_list.h"

namespace quota {

inline Quantity Q(std::string_view text) {
  INFO("quantity " << text);
  const base::Result<Quantity> quantity = Quantity::Parse(text);
  REQUIRE(quantity.has_value());
  return *quantity;
}

inline ResourceList List(
    std::initializer_list<std::pair<std::string_view, std::string_view>> items) {
  ResourceList list;
  for (const auto& [name, text] : items) list.Set(name, Q(text));
  return list;
}

inline json::Value Json(std::string_view text) {
  const base::Result<json::Value> value = json::Parse(text);
  INFO(text);
  REQUIRE(value.has_value());
  return *value;
}

// True if the two values at the path differ. A missing value differs from every existing one.
inline bool Differ(const json::Value& object, const json::Value& old,
                   std::initializer_list<std::string_view> path) {
  const json::Value* now = object.At(path);
  const json::Value* before = old.At(path);
  if (now == nullptr || before == nullptr) return now != before;
  return !(*now == *before);
}

inline Facts Using(std::initializer_list<std::pair<std::string_view, std::string_view>> items,
                   std::vector<Attribute> attributes = {}) {
  return {.usage = List(items), .attributes = std::move(attributes)};
}

}  // namespace quota
