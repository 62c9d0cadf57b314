// Where the API has texts, people write numbers and booleans: YAML without quotes.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/object_meta.h"
#include "pkg/inspect/manifest.h"

namespace inspect {
namespace {

using json::Value;
using Words = std::initializer_list<std::string_view>;

bool IsIn(std::string_view name, Words names) {
  return std::ranges::find(names, name) != names.end();
}

// Built-in groups whose objects are looked through.
bool IsBuiltIn(std::string_view group) {
  return IsIn(group, {"", "apps", "batch", "policy", "autoscaling", "networking.k8s.io"});
}

class TextFinder {
 public:
  explicit TextFinder(const Value& object) : kind_(api::Kind(object)) {}
  std::vector<std::string> mistyped;

  // Requires texts in a map, or in a list.
  void MustBeTexts(const Value& value, const std::string& path, bool list = false) {
    if (value.IsNull()) return;
    if (list ? !value.IsArray() : !value.IsObject())
      return Add(path, list ? "array" : "object", value);
    if (list) {
      std::size_t index = 0;
      for (const Value& text : *value.AsArray()) {
        MustBeText(text, path + "[" + std::to_string(index++) + "]");
      }
      return;
    }
    for (const auto& [name, text] : *value.AsObject()) MustBeText(text, Below(path, name));
  }

  void Walk(const Value& value, const std::string& path) {
    if (const json::Array* list = value.AsArray()) {
      std::size_t index = 0;
      for (const Value& item : *list) Walk(item, path + "[" + std::to_string(index++) + "]");
    }
    const json::Object* object = value.AsObject();
    if (object == nullptr) return;
    for (const auto& [name, member] : *object) {
      const std::string at = Below(path, name);
      if (HoldsTexts(path, name)) {
        MustBeTexts(member, at, IsList(name));
      } else if (name == "value" && path.find(".env[") != std::string::npos) {
        MustBeText(member, at);
      } else if (name == "containerPort") {
        if (!member.IsNull() && !member.AsInt64()) Add(at, "integer", member);
      } else {
        Walk(member, at);
      }
    }
  }

 private:
  static std::string Below(const std::string& path, std::string_view name) {
    return path.empty() ? std::string(name) : std::string(path).append(".").append(name);
  }
  [[nodiscard]] bool HoldsTexts(std::string_view path, std::string_view name) const {
    if (IsIn(name, {"labels", "annotations"})) return path.ends_with("metadata");
    if (path.empty()) {
      return (kind_ == "ConfigMap" || kind_ == "Secret") &&
             IsIn(name, {"data", "stringData", "binaryData"});
    }
    if (name == "selector") {
      return path == "spec" && (kind_ == "Service" || kind_ == "ReplicationController");
    }
    if (IsList(name)) return path.ends_with(']');
    return IsIn(name, {"matchLabels", "nodeSelector"});
  }
  static bool IsList(std::string_view name) { return IsIn(name, {"command", "args"}); }
  void MustBeText(const Value& value, const std::string& path) {
    if (!value.IsNull() && !value.IsString()) Add(path, "string", value);
  }
  void Add(const std::string& path, std::string_view type, const Value& value) {
    mistyped.push_back(path + " must be of type " + std::string(type) + ", not " +
                       std::string(value.TypeName()));
  }

  std::string_view kind_;
};

}  // namespace

std::vector<std::string> MistypedTexts(const Value& object) {
  TextFinder finder(object);
  if (IsBuiltIn(GroupOf(api::ApiVersion(object)))) {
    finder.Walk(object, "");
    return std::move(finder.mistyped);
  }
  for (const char* member : {"labels", "annotations"}) {
    const Value* texts = object.At({"metadata", member});
    if (texts != nullptr) finder.MustBeTexts(*texts, std::string("metadata.") + member);
  }
  return std::move(finder.mistyped);
}

}  // namespace inspect
