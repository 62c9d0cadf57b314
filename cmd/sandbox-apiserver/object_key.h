#pragma once

// The key under which the store keeps an object: "ns/name", or "name" of a cluster-scoped one.

#include <string>
#include <string_view>

#include "pkg/api/object_meta.h"
#include "pkg/json/value.h"

namespace sandbox {

inline std::string KeyOf(std::string_view ns, std::string_view name) {
  return ns.empty() ? std::string(name) : std::string(ns) + "/" + std::string(name);
}

inline std::string KeyOf(const json::Value& object) {
  return KeyOf(api::Namespace(object), api::Name(object));
}

}  // namespace sandbox
