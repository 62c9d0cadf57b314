#include "pkg/api/object_meta.h"

#include <algorithm>

#include "pkg/api/time.h"

namespace api {
namespace {

const json::Value* ObjectAt(const json::Value& object, std::string_view member) {
  const json::Value* value = object.At({"metadata", member});
  return value != nullptr && value->IsObject() ? value : nullptr;
}

std::optional<base::WallTime> TimeAt(const json::Value& object, std::string_view member) {
  const auto time = ParseTime(object.StringAt({"metadata", member}));
  return time ? std::optional(*time) : std::nullopt;
}

}  // namespace

std::string_view Name(const json::Value& object) { return object.StringAt({"metadata", "name"}); }

std::string_view Namespace(const json::Value& object) {
  return object.StringAt({"metadata", "namespace"});
}

std::string_view Uid(const json::Value& object) { return object.StringAt({"metadata", "uid"}); }

std::string_view ResourceVersion(const json::Value& object) {
  return object.StringAt({"metadata", "resourceVersion"});
}

std::string_view Kind(const json::Value& object) { return object.StringAt({"kind"}); }

std::string_view ApiVersion(const json::Value& object) { return object.StringAt({"apiVersion"}); }

ObjectKey KeyOf(const json::Value& object) {
  return {.ns = std::string(Namespace(object)), .name = std::string(Name(object))};
}

const json::Value* Labels(const json::Value& object) { return ObjectAt(object, "labels"); }

const json::Value* Annotations(const json::Value& object) {
  return ObjectAt(object, "annotations");
}

std::optional<std::string_view> Label(const json::Value& object, std::string_view key) {
  const json::Value* label = object.At({"metadata", "labels", key});
  if (label == nullptr || !label->IsString()) return std::nullopt;
  return *label->AsString();
}

bool IsController(const json::Value& owner_reference) {
  const json::Value* flag = owner_reference.At({"controller"});
  return flag != nullptr && flag->AsBool().value_or(false);
}

const json::Value* OwnerReference(const json::Value& object) {
  const json::Array& references = object.ArrayAt({"metadata", "ownerReferences"});
  if (references.empty()) return nullptr;
  const auto controller = std::ranges::find_if(references, IsController);
  return controller == references.end() ? &references.front() : &*controller;
}

bool HasFinalizer(const json::Value& object, std::string_view finalizer) {
  return std::ranges::any_of(
      object.ArrayAt({"metadata", "finalizers"}),
      [&](const json::Value& entry) { return entry.IsString() && *entry.AsString() == finalizer; });
}

std::optional<base::WallTime> CreationTimestamp(const json::Value& object) {
  return TimeAt(object, "creationTimestamp");
}

std::optional<base::WallTime> DeletionTimestamp(const json::Value& object) {
  return TimeAt(object, "deletionTimestamp");
}

bool IsBeingDeleted(const json::Value& object) {
  const json::Value* timestamp = object.At({"metadata", "deletionTimestamp"});
  return timestamp != nullptr && !timestamp->IsNull();
}

}  // namespace api
