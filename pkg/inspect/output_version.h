#pragma once

// The version of what `kubectl quota` prints as JSON and YAML. It is no API of a server, so its
// group is another one.

#include <string_view>

namespace inspect {

inline constexpr std::string_view kOutputVersion = "cli.quota-controller-manager.io/v1alpha1";

}  // namespace inspect
