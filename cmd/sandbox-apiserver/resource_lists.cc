#include "cmd/sandbox-apiserver/resource_lists.h"

namespace sandbox {
namespace {

using json::Value;

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

Outcome<void> NormalizeQuantities(const ResourceType& type, Value* list) {
  if (list == nullptr || list->IsNull()) return {};
  const api::Status malformed =
      api::BadRequest(type.kind + " in version \"" + type.version + "\" cannot be handled as a " +
                      type.kind + ": a quantity is malformed");
  if (!list->IsObject()) return malformed;
  for (auto& [name, value] : *list->AsObject()) {
    const auto parsed = quantity::Quantity::Parse(value.IsNull() ? "0" : QuantityText(value));
    if (!parsed) return malformed;
    value = parsed->RoundUpToMilli().ToString();
  }
  return {};
}

quantity::Quantity QuantityOf(const Value* list, std::string_view name) {
  const Value* const value = list != nullptr ? list->At({name}) : nullptr;
  if (value == nullptr) return {};
  auto parsed = quantity::Quantity::Parse(QuantityText(*value));
  return parsed ? *parsed : quantity::Quantity();
}

}  // namespace sandbox
