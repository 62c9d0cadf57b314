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

// If it is "true", all requests shall pass. The daemon keeps the object without webhooks then, and
// does not restore it if it is deleted. Any other value has no effect.
inline constexpr std::string_view kBreakGlassAnnotation = "quota-controller-manager.io/break-glass";

// For how long: a duration ("5m", perhaps with a space and any text after it). A daemon that has
// seen both annotations for so long removes them. Without it, or with any other value: until
// somebody removes the first one. It is an annotation of its own because daemons of former releases
// know only "true": they leave the object empty until others remove that.
inline constexpr std::string_view kBreakGlassForAnnotation =
    "quota-controller-manager.io/break-glass-for";

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
