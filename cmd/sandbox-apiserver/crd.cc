#include "cmd/sandbox-apiserver/crd.h"

#include <algorithm>

#include "pkg/api/object_meta.h"
#include "pkg/api/version_order.h"
#include "pkg/base/text.h"

namespace sandbox {
namespace {

using json::Array;
using json::Object;
using json::Value;

bool IsTrue(const Value* value) { return value != nullptr && value->AsBool().value_or(false); }

std::vector<std::string> Strings(const Array& list) {
  std::vector<std::string> strings;
  for (const Value& one : list) {
    if (one.IsString()) strings.push_back(*one.AsString());
  }
  return strings;
}

std::vector<PrinterColumn> ColumnsOf(const Value& version) {
  std::vector<PrinterColumn> columns;
  for (const Value& one : version.ArrayAt({"additionalPrinterColumns"})) {
    PrinterColumn column;
    column.name = one.StringAt({"name"});
    column.type = one.StringAt({"type"});
    column.json_path = one.StringAt({"jsonPath"});
    if (const Value* priority = one.At({"priority"})) {
      column.priority = priority->AsInt64().value_or(0);
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

std::vector<std::string> SelectableFieldsOf(const Value& version) {
  std::vector<std::string> fields;
  for (const Value& one : version.ArrayAt({"selectableFields"})) {
    fields.emplace_back(one.StringAt({"jsonPath"}));
  }
  return fields;
}

Value Condition(std::string_view type, std::string_view reason, std::string_view message,
                std::string_view timestamp) {
  return Object{{"lastTransitionTime", timestamp},
                {"message", message},
                {"reason", reason},
                {"status", "True"},
                {"type", type}};
}

ResourceType TypeOf(const Value& crd, const Value& version, const std::string& storage) {
  ResourceType type;
  type.group = crd.StringAt({"spec", "group"});
  type.version = version.StringAt({"name"});
  type.resource = crd.StringAt({"spec", "names", "plural"});
  type.kind = crd.StringAt({"spec", "names", "kind"});
  type.singular = crd.StringAt({"spec", "names", "singular"});
  type.list_kind = crd.StringAt({"spec", "names", "listKind"});
  type.short_names = Strings(crd.ArrayAt({"spec", "names", "shortNames"}));
  type.categories = Strings(crd.ArrayAt({"spec", "names", "categories"}));
  type.verbs = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
  type.namespaced = crd.StringAt({"spec", "scope"}) == "Namespaced";
  type.status = version.At({"subresources", "status"}) != nullptr;
  type.custom = true;
  if (const Value* schema = version.At({"schema", "openAPIV3Schema"})) {
    type.schema = std::make_shared<const Value>(*schema);
  }
  type.columns = ColumnsOf(version);
  type.selectable_fields = SelectableFieldsOf(version);
  type.storage_version = storage;
  return type;
}

}  // namespace

FieldErrors ValidateCrd(const Value& crd) {
  FieldErrors errors;
  const std::string plural(crd.StringAt({"spec", "names", "plural"}));
  const std::string_view name = api::Name(crd);
  if (plural.empty()) errors.Required("spec.names.plural");
  if (name != plural + "." + std::string(crd.StringAt({"spec", "group"}))) {
    errors.Invalid("metadata.name", name, "must be spec.names.plural+\".\"+spec.group");
  }
  if (crd.StringAt({"spec", "names", "kind"}).empty()) errors.Required("spec.names.kind");
  const Array& versions = crd.ArrayAt({"spec", "versions"});
  const auto stored = std::ranges::count_if(
      versions, [](const Value& version) { return IsTrue(version.At({"storage"})); });
  if (stored != 1) {
    errors.Invalid("spec.versions", json::Value(versions),
                   "must have exactly one version marked as storage version");
  }
  return errors;
}

void DefaultCrd(Value& crd) {
  const std::string kind(crd.StringAt({"spec", "names", "kind"}));
  if (kind.empty()) return;
  if (crd.StringAt({"spec", "names", "singular"}).empty()) {
    crd.Make({"spec", "names", "singular"}) = base::ToLower(kind);
  }
  if (crd.StringAt({"spec", "names", "listKind"}).empty()) {
    crd.Make({"spec", "names", "listKind"}) = kind + "List";
  }
  if (crd.At({"spec", "conversion"}) == nullptr) {
    crd.Make({"spec", "conversion", "strategy"}) = "None";
  }
}

void SetEstablished(Value& crd, std::string_view timestamp) {
  crd.Make({"status", "acceptedNames"}) = *crd.At({"spec", "names"});
  if (crd.ArrayAt({"status", "conditions"}).empty()) {
    crd.Make({"status", "conditions"}) =
        Array{Condition("NamesAccepted", "NoConflicts", "no conflicts found", timestamp),
              Condition("Established", "InitialNamesAccepted",
                        "the initial names have been accepted", timestamp)};
  }
  std::vector<std::string> stored = Strings(crd.ArrayAt({"status", "storedVersions"}));
  for (const Value& version : crd.ArrayAt({"spec", "versions"})) {
    const std::string name(version.StringAt({"name"}));
    if (IsTrue(version.At({"storage"})) &&
        std::find(stored.begin(), stored.end(), name) == stored.end()) {
      stored.push_back(name);
    }
  }
  crd.Make({"status", "storedVersions"}) = Array(stored.begin(), stored.end());
}

std::vector<ResourceType> TypesOfCrd(const Value& crd) {
  std::string storage;
  for (const Value& version : crd.ArrayAt({"spec", "versions"})) {
    if (IsTrue(version.At({"storage"}))) storage = version.StringAt({"name"});
  }
  std::vector<ResourceType> types;
  for (const Value& version : crd.ArrayAt({"spec", "versions"})) {
    if (IsTrue(version.At({"served"}))) types.push_back(TypeOf(crd, version, storage));
  }
  std::stable_sort(types.begin(), types.end(), [](const ResourceType& a, const ResourceType& b) {
    return api::ComesBefore(a.version, b.version);
  });
  return types;
}

}  // namespace sandbox
