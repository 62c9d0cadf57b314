#pragma once

// By this label an object on the API server is known to be ours, to change and to replace.

#include <string_view>

namespace admission {

inline constexpr std::string_view kManagedByLabel = "app.kubernetes.io/managed-by";
inline constexpr std::string_view kManagedByUs = "quota-controller-manager";

}  // namespace admission
