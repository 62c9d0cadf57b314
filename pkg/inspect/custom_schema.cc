#include "pkg/inspect/custom_schema.h"

#include <string_view>
#include <utility>

#include "pkg/api/version_order.h"

namespace inspect {
namespace {

using quota::usage::SchemaDocument;
using quota::usage::ServedKind;

bool IsTrue(const json::Value* value) {
  return value != nullptr && value->AsBool().value_or(false);
}

// The version that an API server prefers; null if none is served.
const json::Value* PreferredVersion(const json::Value& custom_kind) {
  const json::Value* preferred = nullptr;
  for (const json::Value& version : custom_kind.ArrayAt({"spec", "versions"})) {
    if (!IsTrue(version.At({"served"}))) continue;
    const bool first = preferred == nullptr ||
                       api::ComesBefore(version.StringAt({"name"}), preferred->StringAt({"name"}));
    if (first) preferred = &version;
  }
  return preferred;
}

// Every object has these, whatever the definition says of them.
void ForgetCommon(json::Value& schema) {
  if (schema.At({"properties"}) == nullptr) return;
  json::Object* members = schema.Make({"properties"}).AsObject();
  if (members == nullptr) return;
  for (const char* member : {"apiVersion", "kind", "metadata"}) members->Erase(member);
}

std::string DocumentOf(const ServedKind& kind, json::Value schema) {
  ForgetCommon(schema);
  schema.Make({"x-kubernetes-group-version-kind"}) = json::Array{
      json::Object{{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}}};
  json::Value document;
  document.Make({"components", "schemas", "kind"}) = std::move(schema);
  return json::Write(document);
}

}  // namespace

std::string WhyNotInSchema(const json::Value& custom_kind,
                           const std::vector<quota::usage::NamedPath>& paths) {
  const json::Value* version = PreferredVersion(custom_kind);
  if (paths.empty() || version == nullptr) return "";
  const json::Value* schema = version->At({"schema", "openAPIV3Schema"});
  const bool open = IsTrue(custom_kind.At({"spec", "preserveUnknownFields"}));
  if (schema == nullptr || !schema->IsObject() || open) return "";
  const ServedKind kind{.group = std::string(custom_kind.StringAt({"spec", "group"})),
                        .version = std::string(version->StringAt({"name"})),
                        .kind = std::string(custom_kind.StringAt({"spec", "names", "kind"}))};
  auto document = SchemaDocument::Read(DocumentOf(kind, *schema));
  if (!document) return "";
  auto why = document->WhyNot(kind, paths);
  return why ? std::move(*why) : std::string();
}

}  // namespace inspect
