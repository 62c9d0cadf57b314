#pragma once

// Look-ups in an object of many members. Object::Find() is linear, and objects of an API can have
// tens of thousands of members.

#include <map>
#include <string_view>

#include "pkg/json/value.h"

namespace json {

// The members by name. Valid as long as the object is not changed.
inline std::map<std::string_view, const Value*> IndexOf(const Object& object) {
  std::map<std::string_view, const Value*> index;
  for (const auto& [name, value] : object) index.emplace(name, &value);
  return index;
}

}  // namespace json
