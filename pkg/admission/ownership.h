#pragma once

// By one of these labels an object on the API server is known to be ours, to change and to replace.
// Helm writes its own name into the first one of whatever it installs, so its chart sets the
// second.

#include <optional>
#include <string_view>

#include "pkg/api/object_meta.h"
#include "pkg/json/value.h"

namespace admission {

inline constexpr std::string_view kManagedByLabel = "app.kubernetes.io/managed-by";
inline constexpr std::string_view kManagedByUs = "quota-controller-manager";
inline constexpr std::string_view kManagedLabel = "quota-controller-manager.io/managed";

inline bool HasOurLabel(const json::Value& object) {
  return api::Label(object, kManagedByLabel) == std::optional(kManagedByUs) ||
         api::Label(object, kManagedLabel) == std::optional<std::string_view>("true");
}

}  // namespace admission
