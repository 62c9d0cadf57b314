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

// Which installation of several the webhook configuration belongs to: its lease, "NAMESPACE/NAME",
// which all replicas share and no other installation does. Without it, whose is open.
inline constexpr std::string_view kInstallationAnnotation =
    "quota-controller-manager.io/installation";

inline std::string_view InstallationOf(const json::Value& object) {
  const json::Value* annotations = api::Annotations(object);
  return annotations == nullptr ? "" : annotations->StringAt({kInstallationAnnotation});
}

// By the second label: the first is then the installer's.
inline bool IsLabelledByInstaller(const json::Value& object) {
  return api::Label(object, kManagedLabel) == std::optional<std::string_view>("true");
}

inline bool HasOurLabel(const json::Value& object) {
  return api::Label(object, kManagedByLabel) == std::optional(kManagedByUs) ||
         IsLabelledByInstaller(object);
}

}  // namespace admission
