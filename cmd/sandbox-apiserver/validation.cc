#include "cmd/sandbox-apiserver/validation.h"

#include <algorithm>

#include "pkg/api/names.h"
#include "pkg/api/selector.h"

namespace sandbox {
namespace {

using json::Value;

bool IsNameOf(const ResourceType& type, std::string_view name) {
  // Roles have the names of rights ("system:auth-delegator").
  if (type.group == "rbac.authorization.k8s.io") return name.find('/') == std::string_view::npos;
  const bool label = type.IsCore("namespaces") || type.IsCore("services");
  return label ? api::IsDns1123Label(name) : api::IsDns1123Subdomain(name);
}

void ValidateLabels(const Value& labels, FieldErrors& errors) {
  if (labels.AsObject() == nullptr) return;
  for (const auto& [key, value] : *labels.AsObject()) {
    const std::string of_key = api::CheckLabelKey(key);
    const std::string of_value = value.IsString() ? api::CheckLabelValue(*value.AsString()) : "";
    if (!of_key.empty()) errors.Invalid("metadata.labels", key, of_key);
    if (!of_value.empty()) errors.Invalid("metadata.labels", value, of_value);
  }
}

void ValidateAnnotations(const Value& annotations, FieldErrors& errors) {
  if (annotations.AsObject() == nullptr) return;
  std::size_t total = 0;
  for (const auto& [key, value] : *annotations.AsObject()) {
    total += key.size() + (value.IsString() ? value.AsString()->size() : 0);
  }
  if (total > std::size_t{256} * 1024) {
    errors.Invalid("metadata.annotations", static_cast<std::int64_t>(total),
                   "may not be more than 262144 bytes");
  }
}

void ValidateOwners(const Value& owners, FieldErrors& errors) {
  if (owners.AsArray() == nullptr) return;
  for (const Value& owner : *owners.AsArray()) {
    for (std::string_view member : {"apiVersion", "kind", "name", "uid"}) {
      if (!owner.StringAt({member}).empty()) continue;
      errors.Invalid("metadata.ownerReferences." + std::string(member), "", "must not be empty");
    }
  }
}

// A cluster-scoped object has no namespace, one in a namespace has it.
void ValidateNamespace(const ResourceType& type, const Value& object, FieldErrors& errors) {
  const std::string_view ns = object.StringAt({"metadata", "namespace"});
  if (type.namespaced && ns.empty()) errors.Required("metadata.namespace");
  if (type.namespaced || ns.empty()) return;
  errors.Forbidden("metadata.namespace", "not allowed on this type");
}

}  // namespace

void FieldErrors::Invalid(std::string field, const Value& value, std::string_view detail) {
  std::string message = "Invalid value: " + json::Write(value);
  if (!detail.empty()) message.append(": ").append(detail);
  errors_.push_back({"FieldValueInvalid", std::move(message), std::move(field)});
}

void FieldErrors::Required(std::string field, std::string_view detail) {
  std::string message = "Required value";
  if (!detail.empty()) message.append(": ").append(detail);
  errors_.push_back({"FieldValueRequired", std::move(message), std::move(field)});
}

void FieldErrors::Forbidden(std::string field, std::string_view detail) {
  errors_.push_back({"FieldValueForbidden", "Forbidden: " + std::string(detail), std::move(field)});
}

void FieldErrors::NotSupported(std::string field, const Value& value,
                               const std::vector<std::string>& supported) {
  std::string message = "Unsupported value: " + json::Write(value) + ": supported values: ";
  for (std::size_t i = 0; i < supported.size(); ++i) {
    message += (i == 0 ? "" : ", ") + json::Quote(supported[i]);
  }
  errors_.push_back({"FieldValueNotSupported", std::move(message), std::move(field)});
}

void FieldErrors::Append(const FieldErrors& other) {
  errors_.insert(errors_.end(), other.errors_.begin(), other.errors_.end());
}

api::Status FieldErrors::ToStatus(const ResourceType& type, std::string_view name) const {
  return api::Invalid(type.group, type.kind, name, errors_);
}

Outcome<void> FieldErrors::OfOptions(std::string_view kind) const {
  if (empty()) return {};
  return api::Invalid("meta.k8s.io", kind, "", errors_);
}

FieldErrors ValidateMeta(const ResourceType& type, const Value& object) {
  FieldErrors errors;
  const Value* const meta = object.At({"metadata"});
  if (meta == nullptr) {
    errors.Required("metadata");
    return errors;
  }
  const std::string_view name = meta->StringAt({"name"});
  if (name.empty()) {
    errors.Required("metadata.name", "name or generateName is required");
  } else if (!IsNameOf(type, name)) {
    errors.Invalid("metadata.name", name, "must be a lowercase RFC 1123 name");
  }
  ValidateNamespace(type, object, errors);
  if (const Value* labels = meta->At({"labels"})) ValidateLabels(*labels, errors);
  if (const Value* annotations = meta->At({"annotations"})) {
    ValidateAnnotations(*annotations, errors);
  }
  if (const Value* owners = meta->At({"ownerReferences"})) ValidateOwners(*owners, errors);
  return errors;
}

FieldErrors ValidateMetaUpdate(const Value& object, const Value& old) {
  FieldErrors errors;
  for (std::string_view member : {"name", "namespace", "uid", "creationTimestamp",
                                  "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    const Value* const now = object.At({"metadata", member});
    const Value* const before = old.At({"metadata", member});
    const Value absent;
    if ((now != nullptr ? *now : absent) == (before != nullptr ? *before : absent)) continue;
    errors.Invalid("metadata." + std::string(member), now != nullptr ? *now : absent,
                   "field is immutable");
  }
  if (old.At({"metadata", "deletionTimestamp"}) == nullptr) return errors;
  const json::Array& before = old.ArrayAt({"metadata", "finalizers"});
  for (const Value& finalizer : object.ArrayAt({"metadata", "finalizers"})) {
    if (std::find(before.begin(), before.end(), finalizer) != before.end()) continue;
    errors.Forbidden("metadata.finalizers",
                     "no new finalizers can be added if the object is being deleted");
  }
  return errors;
}

}  // namespace sandbox
