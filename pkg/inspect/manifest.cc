#include "pkg/inspect/manifest.h"

#include "pkg/api/object_meta.h"
#include "pkg/base/text.h"
#include "pkg/config/yaml.h"

namespace inspect {
namespace {

base::Error Wrong(const std::string& where, const std::string& why) {
  return {.code = base::ErrorCode::kInvalidArgument, .message = where + ": " + why};
}

std::string Lacking(const json::Value& object) {
  if (!object.IsObject()) return "no object: " + std::string(object.TypeName());
  if (api::ApiVersion(object).empty()) return "apiVersion is not set";
  if (api::Kind(object).empty()) return "kind is not set";
  return "";
}

constexpr std::string_view kList = "List";

// Items that are not there, or null, are none.
bool IsList(const json::Value& object) {
  const json::Value* items = object.At({"items"});
  return api::Kind(object).ends_with(kList) && items != nullptr &&
         (items->IsArray() || items->IsNull());
}

// Returns the item with the version and the kind that a typed list, such as a PodList, leaves out.
json::Value WithKind(json::Value item, const json::Value& list) {
  const std::string_view kind = api::Kind(list);
  if (!item.IsObject() || kind == kList || !api::Kind(item).empty()) return item;
  item.Make({"apiVersion"}) = api::ApiVersion(list);
  item.Make({"kind"}) = kind.substr(0, kind.size() - kList.size());
  return item;
}

base::Result<void> Take(json::Value object, const std::string& where,
                        std::vector<Manifest>& manifests) {
  const std::string lacking = Lacking(object);
  if (!lacking.empty()) return Wrong(where, lacking);
  if (!IsList(object)) {
    const bool named =
        !api::Name(object).empty() || !object.StringAt({"metadata", "generateName"}).empty();
    if (!named) return Wrong(where, "metadata.name is not set");
    manifests.push_back({std::move(object), where});
    return {};
  }
  std::size_t number = 0;
  for (const json::Value& item : object.ArrayAt({"items"})) {
    auto taken =
        Take(WithKind(item, object), where + ", item " + std::to_string(++number), manifests);
    if (!taken) return taken;
  }
  return {};
}

}  // namespace

base::Result<std::vector<Manifest>> ReadManifests(std::string_view text, const std::string& file) {
  auto documents = config::ParseYamlDocuments(text);
  if (!documents) return Wrong(file, documents.error().message);
  std::vector<Manifest> manifests;
  std::size_t number = 0;
  for (json::Value& document : *documents) {
    ++number;
    std::string where = file;
    if (documents->size() > 1) where += ", document " + std::to_string(number);
    auto taken = Take(std::move(document), where, manifests);
    if (!taken) return taken.error();
  }
  return manifests;
}

ObjectName NameOf(const json::Value& object) {
  const std::string_view name = api::Name(object);
  return {base::ToLower(api::Kind(object)), GroupOf(api::ApiVersion(object)),
          name.empty() ? std::string(object.StringAt({"metadata", "generateName"})) + "…"
                       : std::string(name)};
}

}  // namespace inspect
