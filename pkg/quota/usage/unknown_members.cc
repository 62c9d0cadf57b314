#include "pkg/quota/usage/unknown_members.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/base/text.h"

namespace quota::usage {
namespace {

// The fields of an object, or of the objects in a list. Without any: all are fine.
struct Shape {
  std::vector<std::pair<std::string_view, Shape>> members = {};
};

const Shape& ShapeOfDefinition() {
  static const Shape any;
  static const Shape resource{{{"group", any}, {"resource", any}}};
  static const Shape of_class{{{"displayName", any},
                               {"field", any},
                               {"optional", any},
                               {"path", any},
                               {"resource", resource}}};
  static const Shape usage{{{"class", of_class},
                            {"default", any},
                            {"format", any},
                            {"name", any},
                            {"path", any},
                            {"times", any},
                            {"timesDefault", any}}};
  static const Shape counts_while{
      {{"in", any}, {"notIn", any}, {"path", any}, {"statusSubresourceOnly", any}}};
  static const Shape scope{{{"name", any}, {"path", any}}};
  static const Shape spec{{{"countsWhile", counts_while},
                           {"invalidAmountPolicy", any},
                           {"resource", resource},
                           {"scopes", scope},
                           {"usage", usage}}};
  static const Shape definition{
      {{"apiVersion", any}, {"kind", any}, {"metadata", any}, {"spec", spec}, {"status", any}}};
  return definition;
}

std::string UnknownIn(const json::Value& value, const Shape& shape, const std::string& field) {
  if (shape.members.empty()) return "";
  if (const json::Array* list = value.AsArray()) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      auto unknown = UnknownIn((*list)[i], shape, field + "[" + std::to_string(i) + "]");
      if (!unknown.empty()) return unknown;
    }
    return "";
  }
  const json::Object* object = value.AsObject();
  if (object == nullptr) return "";
  for (const auto& [name, below] : *object) {
    const std::string at = std::string(field).append(field.empty() ? "" : ".").append(name);
    const auto known =
        std::ranges::find(shape.members, name, &std::pair<std::string_view, Shape>::first);
    if (known == shape.members.end()) {
      std::vector<std::string_view> names;
      for (const auto& member : shape.members) names.push_back(member.first);
      return at + ": is no field; there are " + base::Join(names, ", ");
    }
    auto unknown = UnknownIn(below, known->second, at);
    if (!unknown.empty()) return unknown;
  }
  return "";
}

}  // namespace

std::string UnknownMember(const json::Value& object) {
  return UnknownIn(object, ShapeOfDefinition(), "");
}

}  // namespace quota::usage
