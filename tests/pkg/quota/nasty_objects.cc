#include "tests/pkg/quota/nasty_objects.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "pkg/json/projection.h"
#include "pkg/protobuf/kinds.h"

namespace quota::nasty {
namespace {

using json::Projection;
using json::Value;

enum class Kind { kText, kNumber, kMap, kMessage };

// A field on the way to what an evaluator reads.
struct Shape {
  std::string name;
  Kind kind = Kind::kText;
  bool list = false;
  bool either = false;  // of a custom resource: perhaps a list
  std::vector<Shape> members;
};

bool EndsWithAny(std::string_view name, std::initializer_list<std::string_view> ends) {
  return std::ranges::any_of(ends, [&](std::string_view end) { return name.ends_with(end); });
}

Kind KindOf(protobuf::FieldType type) {
  using enum protobuf::FieldType;
  switch (type) {
    case kInteger:
    case kBool:
      return Kind::kNumber;
    case kMessage:
      return Kind::kMessage;
    case kStringMap:
    case kQuantityMap:
      return Kind::kMap;
    default:
      return Kind::kText;
  }
}

// Only the name of a field of a custom resource is known.
Kind GuessedKind(std::string_view name) {
  if (EndsWithAny(name, {"eplicas", "ount", "econds", "Port"})) return Kind::kNumber;
  const bool text = EndsWithAny(
      name, {"name", "Name", "kind", "ersion", "type", "state", "phase", "storage", "scheduling"});
  return text ? Kind::kText : Kind::kMap;
}

Shape ShapeOf(std::string_view name, const protobuf::Field* field, const Projection::Node& node) {
  Shape shape{.name = std::string(name)};
  const bool inner = !node.members.empty();
  if (field == nullptr) {
    shape.kind = inner ? Kind::kMessage : GuessedKind(name);
    shape.either = inner;
  } else {
    shape.kind = KindOf(field->type);
    shape.list = field->repeated;
  }
  if (shape.kind == Kind::kMap) return shape;  // wanted keys are among any
  const protobuf::Message* message = field == nullptr ? nullptr : field->message;
  if (node.whole && message != nullptr) {
    static const Projection all({""});
    for (const protobuf::Field& one : message->fields) {
      if (one.number == protobuf::kOfOtherVersions) continue;
      shape.members.push_back(ShapeOf(one.name, &one, all.root()));
    }
    return shape;
  }
  for (const auto& [member, below] : node.members) {
    const protobuf::Field* found = nullptr;
    if (message != nullptr) {
      const auto at = std::ranges::find(message->fields, member, &protobuf::Field::name);
      if (at == message->fields.end() || at->number == protobuf::kOfOtherVersions) continue;
      found = &*at;
    }
    shape.members.push_back(ShapeOf(member, found, *below));
  }
  return shape;
}

std::string Numbered(std::size_t number) {
  std::string text = std::to_string(number);
  return std::string(6 - std::min<std::size_t>(6, text.size()), '0') + text;
}

Value Small(const Shape& shape, std::size_t number);

Value One(const Shape& shape, std::size_t number) {
  switch (shape.kind) {
    case Kind::kText:
      return "x" + Numbered(number);
    case Kind::kNumber:
      return 3;
    case Kind::kMap:
      return json::Object{{"cpu", "1"}, {"example.com/r" + Numbered(number), "1"}};
    case Kind::kMessage:
      break;
  }
  json::Object object;
  for (const Shape& member : shape.members) object.Set(member.name, Small(member, number));
  return object;
}

Value Small(const Shape& shape, std::size_t number) {
  Value one = One(shape, number);
  return shape.list ? Value(json::Array{std::move(one)}) : one;
}

Value Names(const std::function<std::string(std::size_t)>& name, std::size_t bytes) {
  std::vector<json::Member> members;
  for (std::size_t used = 0; used < bytes; used += members.back().first.size() + 12) {
    members.emplace_back(name(members.size()), "1");
  }
  return json::Object::FromMembers(std::move(members));
}

struct Form {
  const char* what;
  std::function<std::optional<Value>(const Shape& shape, std::size_t bytes)> make;
};

// What a field can be filled with.
const std::vector<Form>& Forms() {
  static const std::vector<Form> forms{
      {"text",
       [](const Shape& shape, std::size_t bytes) -> std::optional<Value> {
         if (shape.kind != Kind::kText) return std::nullopt;
         Value text = std::string(bytes, 'x');
         return shape.list ? Value(json::Array{std::move(text)}) : std::move(text);
       }},
      {"list",
       [](const Shape& shape, std::size_t bytes) -> std::optional<Value> {
         if (!shape.list && !shape.either) return std::nullopt;
         json::Array list;
         for (std::size_t used = 0; used < bytes;) {
           list.push_back(One(shape, list.size()));
           // Elements that API servers accept have more fields than those that are read.
           if (list.back().IsObject()) list.back().Make({"others"}) = std::string(24, 'o');
           used += json::Write(list.back()).size() + 1;
         }
         return list;
       }},
      {"names of extended resources",
       [](const Shape& shape, std::size_t bytes) -> std::optional<Value> {
         if (shape.kind != Kind::kMap) return std::nullopt;
         return Names([](std::size_t i) { return "example.com/r" + Numbered(i); }, bytes);
       }},
      {"hugepages",
       [](const Shape& shape, std::size_t bytes) -> std::optional<Value> {
         if (shape.kind != Kind::kMap) return std::nullopt;
         return Names(
             [](std::size_t i) { return "hugepages-" + std::to_string(100'000 + i) + "Ki"; },
             bytes);
       }},
      {"names in descending order",
       [](const Shape& shape, std::size_t bytes) -> std::optional<Value> {
         if (shape.kind != Kind::kMap) return std::nullopt;
         return Names([](std::size_t i) { return "example.com/r" + Numbered(999'999 - i); }, bytes);
       }},
  };
  return forms;
}

void FillAll(const Shape& shape, const std::string& path, std::size_t bytes,
             const std::function<Value(Value)>& around,
             const std::function<void(const Object&)>& visit) {
  for (const Form& form : Forms()) {
    if (auto value = form.make(shape, bytes)) {
      visit({path + ": " + form.what, around(std::move(*value))});
    }
  }
  for (const Shape& member : shape.members) {
    const auto within = [&](Value value) {
      Value object = One(shape, 0);
      object.Make({member.name}) = std::move(value);
      return around(shape.list ? Value(json::Array{std::move(object)}) : std::move(object));
    };
    FillAll(member, path.empty() ? member.name : path + "." + member.name, bytes, within, visit);
  }
}

// Kinds without a version of their own are described in v1.
const protobuf::Message* MessageOf(const Evaluator& evaluator) {
  const std::string version = evaluator.version.empty() ? "v1" : evaluator.version;
  const auto* message =
      protobuf::MessageOf({evaluator.resource.group, version, evaluator.resource.resource});
  return message != nullptr ? message : &protobuf::PartialObjectMetadata();
}

}  // namespace

void ForEachObject(const Evaluator& evaluator, std::size_t bytes,
                   const std::function<void(const Object&)>& visit) {
  std::vector<std::string> fields = evaluator.fields;
  // What every object has, wanted or not.
  for (const char* field : {"labels", "annotations", "ownerReferences", "finalizers"}) {
    fields.push_back(std::string("metadata.") + field);
  }
  const Projection wanted(fields);
  const protobuf::Field root{1, "", protobuf::FieldType::kMessage, MessageOf(evaluator)};
  const bool described =
      protobuf::MessageOf({evaluator.resource.group, "v1", evaluator.resource.resource}) != nullptr;
  Shape shape = ShapeOf("", described || evaluator.fields.empty() ? &root : nullptr, wanted.root());
  shape.either = false;
  for (Shape& member : shape.members) {
    if (member.name == "metadata") member.either = false;  // of every kind
  }
  const auto named = [](Value object) {
    for (const char* name : {"uid", "name", "namespace", "resourceVersion"}) {
      object.Make({"metadata", name}) = name;
    }
    return object;
  };
  FillAll(shape, "", bytes, named, visit);
}

}  // namespace quota::nasty
