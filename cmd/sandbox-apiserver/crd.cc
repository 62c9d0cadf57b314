#include "cmd/sandbox-apiserver/crd.h"

#include <algorithm>

#include "pkg/api/version_order.h"
#include "pkg/base/text.h"

namespace sandbox {
namespace {

using json::Array;
using json::Object;
using json::Value;

bool IsTrue(const Value* value) { return value != nullptr && value->AsBool().value_or(false); }

std::vector<std::string> Strings(const Value* list) {
  std::vector<std::string> strings;
  if (list == nullptr || !list->IsArray()) return strings;
  for (const Value& one : *list->AsArray()) {
    if (one.IsString()) strings.push_back(*one.AsString());
  }
  return strings;
}

const Array& VersionsOf(const Value& crd) {
  static const auto* const none = new Array();
  const Value* const versions = crd.At({"spec", "versions"});
  return versions != nullptr && versions->IsArray() ? *versions->AsArray() : *none;
}

void ValidateVersions(const Value& crd, FieldErrors& errors) {
  const Array& versions = VersionsOf(crd);
  if (versions.empty()) {
    errors.Required("spec.versions", "must have exactly one version marked as storage version");
    return;
  }
  std::size_t stored = 0;
  std::vector<std::string> seen;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const std::string path = "spec.versions[" + std::to_string(i) + "]";
    const std::string name(versions[i].StringAt({"name"}));
    for (const std::string& wrong : CheckDns1035Label(name)) {
      errors.Invalid(path + ".name", name, wrong);
    }
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      errors.Duplicate(path + ".name", name);
    }
    seen.push_back(name);
    if (IsTrue(versions[i].At({"storage"}))) ++stored;
    if (versions[i].At({"schema", "openAPIV3Schema"}) == nullptr) {
      errors.Required(path + ".schema.openAPIV3Schema", "schemas are required");
    }
  }
  if (stored != 1) {
    errors.Invalid("spec.versions", *crd.At({"spec", "versions"}),
                   "must have exactly one version marked as storage version");
  }
  if (stored == 0) {
    errors.Invalid("status.storedVersions", nullptr, "must have at least one stored version");
  }
}

std::vector<PrinterColumn> ColumnsOf(const Value& version) {
  std::vector<PrinterColumn> columns;
  const Value* const list = version.At({"additionalPrinterColumns"});
  if (list == nullptr || !list->IsArray()) return columns;
  for (const Value& one : *list->AsArray()) {
    PrinterColumn column;
    column.name = one.StringAt({"name"});
    column.type = one.StringAt({"type"});
    column.format = one.StringAt({"format"});
    column.description = one.StringAt({"description"});
    column.json_path = one.StringAt({"jsonPath"});
    if (column.description.empty()) {
      column.description =
          "Custom resource definition column (in JSONPath format): " + column.json_path;
    }
    if (const Value* priority = one.At({"priority"})) {
      column.priority = priority->AsInt64().value_or(0);
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

std::vector<std::string> SelectableFieldsOf(const Value& version) {
  std::vector<std::string> fields;
  const Value* const list = version.At({"selectableFields"});
  if (list == nullptr || !list->IsArray()) return fields;
  for (const Value& one : *list->AsArray()) fields.emplace_back(one.StringAt({"jsonPath"}));
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
  type.short_names = Strings(crd.At({"spec", "names", "shortNames"}));
  type.categories = Strings(crd.At({"spec", "names", "categories"}));
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
  const std::string group(crd.StringAt({"spec", "group"}));
  const std::string plural(crd.StringAt({"spec", "names", "plural"}));
  const std::string name(crd.StringAt({"metadata", "name"}));
  if (name != plural + "." + group) {
    errors.Invalid("metadata.name", name, "must be spec.names.plural+\".\"+spec.group");
  }
  if (group.empty()) errors.Required("spec.group");
  if (plural.empty()) errors.Required("spec.names.plural");
  if (crd.StringAt({"spec", "names", "kind"}).empty()) errors.Required("spec.names.kind");
  const std::string scope(crd.StringAt({"spec", "scope"}));
  if (scope.empty()) {
    errors.Required("spec.scope");
  } else if (scope != "Namespaced" && scope != "Cluster") {
    errors.NotSupported("spec.scope", scope, {"Cluster", "Namespaced"});
  }
  ValidateVersions(crd, errors);
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
  const Value* const conditions = crd.At({"status", "conditions"});
  if (conditions == nullptr || !conditions->IsArray() || conditions->AsArray()->empty()) {
    crd.Make({"status", "conditions"}) =
        Array{Condition("NamesAccepted", "NoConflicts", "no conflicts found", timestamp),
              Condition("Established", "InitialNamesAccepted",
                        "the initial names have been accepted", timestamp)};
  }
  std::vector<std::string> stored = Strings(crd.At({"status", "storedVersions"}));
  for (const Value& version : VersionsOf(crd)) {
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
  for (const Value& version : VersionsOf(crd)) {
    if (IsTrue(version.At({"storage"}))) storage = version.StringAt({"name"});
  }
  std::vector<ResourceType> types;
  for (const Value& version : VersionsOf(crd)) {
    if (IsTrue(version.At({"served"}))) types.push_back(TypeOf(crd, version, storage));
  }
  std::stable_sort(types.begin(), types.end(), [](const ResourceType& a, const ResourceType& b) {
    return api::ComesBefore(a.version, b.version);
  });
  return types;
}

}  // namespace sandbox
