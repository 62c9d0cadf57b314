#include "cmd/sandbox-apiserver/validation.h"

#include <algorithm>

#include "pkg/base/text.h"

namespace sandbox {
namespace {

using json::Value;

bool IsPathSegment(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of("/%") == std::string_view::npos;
}

std::vector<std::string> CheckObjectName(const ResourceType& type, std::string_view name) {
  if (type.group == "rbac.authorization.k8s.io") {
    return IsPathSegment(name)
               ? std::vector<std::string>()
               : std::vector<std::string>{"may not be '.' or '..' or contain '/' or '%'"};
  }
  if (type.IsCore("namespaces") || type.IsCore("services")) return CheckDns1123Label(name);
  return CheckDns1123Subdomain(name);
}

void ValidateLabels(const Value& labels, FieldErrors& errors) {
  if (labels.AsObject() == nullptr) return;
  for (const auto& [key, value] : *labels.AsObject()) {
    for (const std::string& wrong : CheckQualifiedName(key)) {
      errors.Invalid("metadata.labels", key, wrong);
    }
    if (!value.IsString()) continue;
    for (const std::string& wrong : CheckLabelValue(*value.AsString())) {
      errors.Invalid("metadata.labels", value, wrong);
    }
  }
}

void ValidateAnnotations(const Value& annotations, FieldErrors& errors) {
  if (annotations.AsObject() == nullptr) return;
  std::size_t total = 0;
  for (const auto& [key, value] : *annotations.AsObject()) {
    // In lower case, as upstream: apimachinery v0.36.3, pkg/api/validation/objectmeta.go.
    for (const std::string& wrong : CheckQualifiedName(base::ToLower(key))) {
      errors.Invalid("metadata.annotations", key, wrong);
    }
    total += key.size() + (value.IsString() ? value.AsString()->size() : 0);
  }
  if (total > std::size_t{256} * 1024) {
    errors.Add({"FieldValueTooLong", "metadata.annotations",
                "Too long: may not be more than 262144 bytes"});
  }
}

void ValidateFinalizers(const Value& finalizers, FieldErrors& errors) {
  if (finalizers.AsArray() == nullptr) return;
  for (const Value& finalizer : *finalizers.AsArray()) {
    if (!finalizer.IsString()) continue;
    for (const std::string& wrong : CheckQualifiedName(*finalizer.AsString())) {
      errors.Invalid("metadata.finalizers", finalizer, wrong);
    }
  }
}

void ValidateOwners(const Value& owners, FieldErrors& errors) {
  if (owners.AsArray() == nullptr) return;
  for (const Value& owner : *owners.AsArray()) {
    const std::pair<std::string_view, std::string_view> required[] = {
        {"apiVersion", "version must not be empty"},
        {"kind", "must not be empty"},
        {"name", "must not be empty"},
        {"uid", "must not be empty"}};
    for (const auto& [member, text] : required) {
      if (owner.StringAt({member}).empty()) {
        errors.Invalid("metadata.ownerReferences." + std::string(member), "", text);
      }
    }
  }
}

// A cluster-scoped object has no namespace, one in a namespace has a valid one.
void ValidateNamespace(const ResourceType& type, const Value& object, FieldErrors& errors) {
  const std::string_view ns = object.StringAt({"metadata", "namespace"});
  if (!type.namespaced) {
    if (!ns.empty()) errors.Forbidden("metadata.namespace", "not allowed on this type");
    return;
  }
  if (ns.empty()) {
    errors.Required("metadata.namespace");
    return;
  }
  for (const std::string& wrong : CheckDns1123Label(ns)) {
    errors.Invalid("metadata.namespace", ns, wrong);
  }
}

}  // namespace

void FieldErrors::Invalid(std::string field, const Value& value, std::string_view detail) {
  std::string message = "Invalid value: " + json::Write(value);
  if (!detail.empty()) message.append(": ").append(detail);
  errors_.push_back({"FieldValueInvalid", std::move(field), std::move(message)});
}

void FieldErrors::Required(std::string field, std::string_view detail) {
  std::string message = "Required value";
  if (!detail.empty()) message.append(": ").append(detail);
  errors_.push_back({"FieldValueRequired", std::move(field), std::move(message)});
}

void FieldErrors::Forbidden(std::string field, std::string_view detail) {
  errors_.push_back({"FieldValueForbidden", std::move(field), "Forbidden: " + std::string(detail)});
}

void FieldErrors::Duplicate(std::string field, const Value& value) {
  errors_.push_back(
      {"FieldValueDuplicate", std::move(field), "Duplicate value: " + json::Write(value)});
}

void FieldErrors::NotSupported(std::string field, const Value& value,
                               const std::vector<std::string>& supported) {
  std::string message = "Unsupported value: " + json::Write(value) + ": supported values: ";
  for (std::size_t i = 0; i < supported.size(); ++i) {
    message += (i == 0 ? "" : ", ") + json::Quote(supported[i]);
  }
  errors_.push_back({"FieldValueNotSupported", std::move(field), std::move(message)});
}

void FieldErrors::TypeInvalid(std::string field, const Value& value, std::string_view detail) {
  std::string message = "Invalid value: " + json::Write(value) + ": " + std::string(detail);
  errors_.push_back({"FieldValueTypeInvalid", std::move(field), std::move(message)});
}

void FieldErrors::Append(const FieldErrors& other) {
  errors_.insert(errors_.end(), other.errors_.begin(), other.errors_.end());
}

api::Status FieldErrors::ToStatus(const ResourceType& type, std::string_view name) const {
  std::vector<api::StatusCause> causes;
  for (const FieldError& error : errors_) {
    causes.push_back({error.reason, error.message, error.field});
  }
  return api::Invalid(type.group, type.kind, name, std::move(causes));
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
  } else {
    for (const std::string& wrong : CheckObjectName(type, name)) {
      errors.Invalid("metadata.name", name, wrong);
    }
  }
  ValidateNamespace(type, object, errors);
  if (const Value* labels = meta->At({"labels"})) ValidateLabels(*labels, errors);
  if (const Value* annotations = meta->At({"annotations"})) {
    ValidateAnnotations(*annotations, errors);
  }
  if (const Value* owners = meta->At({"ownerReferences"})) ValidateOwners(*owners, errors);
  if (const Value* finalizers = meta->At({"finalizers"})) ValidateFinalizers(*finalizers, errors);
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
  const Value* const finalizers = object.At({"metadata", "finalizers"});
  if (finalizers == nullptr || !finalizers->IsArray()) return errors;
  const Value* const stored = old.At({"metadata", "finalizers"});
  json::Array added;
  for (const Value& finalizer : *finalizers->AsArray()) {
    const json::Array none;
    const json::Array& before = stored != nullptr && stored->IsArray() ? *stored->AsArray() : none;
    if (std::find(before.begin(), before.end(), finalizer) == before.end()) {
      added.push_back(finalizer);
    }
  }
  if (!added.empty()) {
    std::string list;
    for (const Value& finalizer : added) {
      list += (list.empty() ? "" : ", ") + json::Write(finalizer);
    }
    errors.Forbidden("metadata.finalizers",
                     "no new finalizers can be added if the object is being deleted, found new "
                     "finalizers []string{" +
                         list + "}");
  }
  return errors;
}

}  // namespace sandbox
