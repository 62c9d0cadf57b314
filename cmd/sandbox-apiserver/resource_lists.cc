#include "cmd/sandbox-apiserver/resource_lists.h"

#include "cmd/sandbox-apiserver/statuses.h"
#include "pkg/base/text.h"

namespace sandbox {
namespace {

using json::Value;

constexpr std::string_view kBoth[] = {
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "requests.storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "services.nodeports",
    "services.loadbalancers",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
};

constexpr std::string_view kIntegers[] = {
    "pods",
    "resourcequotas",
    "services",
    "services.nodeports",
    "services.loadbalancers",
    "secrets",
    "configmaps",
    "replicationcontrollers",
    "persistentvolumeclaims",
};

bool IsExtendedResource(std::string_view name) {
  return name.find('/') != std::string_view::npos &&
         name.find("kubernetes.io/") == std::string_view::npos && !name.starts_with("requests.") &&
         CheckQualifiedName("requests." + std::string(name)).empty();
}

std::string QuantityText(const Value& value) {
  if (value.IsString()) return *value.AsString();
  return value.IsNumber() ? value.AsNumber()->text : std::string();
}

}  // namespace

Value* FindMember(Value& value, std::initializer_list<std::string_view> path) {
  Value* at = &value;
  for (std::string_view step : path) {
    json::Object* const object = at->AsObject();
    at = object != nullptr ? object->Find(step) : nullptr;
    if (at == nullptr) return nullptr;
  }
  return at;
}

Outcome<void> NormalizeQuantity(const ResourceType& type, Value& value) {
  if (value.IsNull()) {
    value = "0";
    return {};
  }
  auto parsed = quantity::Quantity::Parse(QuantityText(value));
  if (!parsed) {
    return api::BadRequest(type.kind + " in version \"" + type.version +
                           "\" cannot be handled as a " + type.kind + ": " +
                           parsed.error().message);
  }
  value = parsed->RoundUpToMilli().ToString();
  return {};
}

Outcome<void> NormalizeQuantities(const ResourceType& type, Value* list) {
  if (list == nullptr || list->IsNull()) return {};
  if (!list->IsObject()) {
    return api::BadRequest(type.kind + " in version \"" + type.version +
                           "\" cannot be handled as a " + type.kind + ": json: cannot unmarshal " +
                           std::string(list->TypeName()) +
                           " into Go value of type v1.ResourceList");
  }
  for (auto& [name, value] : *list->AsObject()) {
    if (auto done = NormalizeQuantity(type, value); !done) return done;
  }
  return {};
}

quantity::Quantity QuantityOf(const Value* list, std::string_view name) {
  const Value* const value = list != nullptr ? list->At({name}) : nullptr;
  if (value == nullptr) return {};
  auto parsed = quantity::Quantity::Parse(QuantityText(*value));
  return parsed ? *parsed : quantity::Quantity();
}

bool IsStandardQuotaResource(std::string_view name) {
  return base::IsOneOf(name, kBoth) || name.starts_with("hugepages-") ||
         name.starts_with("requests.hugepages-");
}

bool IsStandardResource(std::string_view name) {
  return name == "storage" || IsStandardQuotaResource(name);
}

bool IsIntegerResource(std::string_view name) {
  return base::IsOneOf(name, kIntegers) || IsExtendedResource(name);
}

void ValidateQuantity(std::string_view path, std::string_view name, const Value& value,
                      FieldErrors& errors) {
  const std::string field = std::string(path) + "[" + std::string(name) + "]";
  auto parsed = quantity::Quantity::Parse(QuantityText(value));
  if (!parsed) {
    errors.Invalid(field, value, parsed.error().message);
    return;
  }
  if (parsed->Sign() < 0) {
    errors.Invalid(field, parsed->ToString(), "must be greater than or equal to 0");
  }
  if (IsIntegerResource(name) && !parsed->IsInteger()) {
    errors.Invalid(field, parsed->ToString(), "must be an integer");
  }
}

}  // namespace sandbox
