#include "tests/fake/managed_fields.h"

#include <string>

namespace api {
namespace {

// In FieldsV1 each member is a path step "f:NAME", with the further steps below it.
bool Owns(const json::Value& entry, std::initializer_list<std::string_view> path) {
  const json::Value* fields = entry.At({"fieldsV1"});
  for (const std::string_view name : path) {
    if (fields == nullptr || !fields->IsObject()) return false;
    std::string step("f:");
    step.append(name);
    fields = fields->AsObject()->Find(step);
  }
  return fields != nullptr;
}

}  // namespace

std::optional<std::string_view> UpdaterOf(const json::Value& object,
                                          std::initializer_list<std::string_view> path) {
  const json::Value* const entries = object.At({"metadata", "managedFields"});
  if (entries == nullptr || !entries->IsArray()) return std::nullopt;
  for (const json::Value& entry : *entries->AsArray()) {
    if (entry.StringAt({"operation"}) == "Update" && Owns(entry, path)) {
      return entry.StringAt({"manager"});
    }
  }
  return std::nullopt;
}

}  // namespace api
