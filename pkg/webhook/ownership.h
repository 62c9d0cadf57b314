#pragma once

// An object on the API server with one of these labels is ours to change and to replace. Helm
// writes its own name into the first label of all that it installs, so our chart sets the second.

#include <optional>
#include <string_view>

#include "pkg/api/object_meta.h"
#include "pkg/json/value.h"

namespace webhook {

inline constexpr std::string_view kManagedByLabel = "app.kubernetes.io/managed-by";
inline constexpr std::string_view kManagedByUs = "quota-controller-manager";
inline constexpr std::string_view kManagedLabel = "quota-controller-manager.io/managed";

// The installation that owns the webhook configuration: its lease, "NAMESPACE/NAME". All replicas
// share the lease, and no other installation has it. Without the annotation nobody owns the object
// yet.
inline constexpr std::string_view kInstallationAnnotation =
    "quota-controller-manager.io/installation";

// All requests shall pass. The daemon keeps the object without webhooks while it has this
// annotation, and does not restore it if it is deleted. "true": until somebody removes the
// annotation. A duration ("5m", perhaps with a space and any text after it): a daemon that has seen
// this value for so long removes it. Any other value has no effect.
inline constexpr std::string_view kBreakGlassAnnotation = "quota-controller-manager.io/break-glass";

// Identity of a leader that enforces nothing, as its lease names it. While this one leads, replicas
// that enforce leave the object without webhooks.
inline constexpr std::string_view kCountingAnnotation =
    "quota-controller-manager.io/counting-leader";

inline std::string_view AnnotationOf(const json::Value& object, std::string_view name) {
  const json::Value* annotations = api::Annotations(object);
  return annotations == nullptr ? "" : annotations->StringAt({name});
}

inline std::string_view InstallationOf(const json::Value& object) {
  return AnnotationOf(object, kInstallationAnnotation);
}

// Has the second label. The first one then contains the installer's name.
inline bool IsLabelledByInstaller(const json::Value& object) {
  return api::Label(object, kManagedLabel) == std::optional<std::string_view>("true");
}

inline bool HasOurLabel(const json::Value& object) {
  return api::Label(object, kManagedByLabel) == std::optional(kManagedByUs) ||
         IsLabelledByInstaller(object);
}

}  // namespace webhook
