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

// "true": an admin lets everything pass. The daemon keeps the object without webhooks while it
// stands there, and does not make anew what is deleted then.
inline constexpr std::string_view kBreakGlassAnnotation = "quota-controller-manager.io/break-glass";

// The leader of an installation that enforces nothing (any more), as its lease names it: while it
// leads, replicas that would enforce leave the object without webhooks.
inline constexpr std::string_view kCountingAnnotation =
    "quota-controller-manager.io/counting-leader";

inline std::string_view AnnotationOf(const json::Value& object, std::string_view name) {
  const json::Value* annotations = api::Annotations(object);
  return annotations == nullptr ? "" : annotations->StringAt({name});
}

inline std::string_view InstallationOf(const json::Value& object) {
  return AnnotationOf(object, kInstallationAnnotation);
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
