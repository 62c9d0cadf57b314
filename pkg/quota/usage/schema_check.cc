#include "pkg/quota/usage/schema_check.h"

#include <algorithm>
#include <utility>

#include "pkg/base/text.h"
#include "pkg/json/projection.h"

namespace quota::usage {
namespace {

constexpr std::string_view kReference = "#/components/schemas/";
// A schema can refer to itself.
constexpr int kDeepest = 16;
constexpr std::size_t kMostParts = 64;
// In messages.
constexpr std::size_t kMostMembers = 8;
constexpr std::size_t kMostOfMember = 64;

bool IsTrue(const json::Value& schema, std::string_view member) {
  const json::Value* value = schema.At({member});
  return value != nullptr && value->AsBool().value_or(false);
}

// The number of first characters that are alike.
std::size_t Likeness(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

// Those like `name` first: a mistyped name mostly begins well.
std::string MembersText(std::vector<std::string_view> members, std::string_view name) {
  std::ranges::sort(members);
  members.erase(std::unique(members.begin(), members.end()), members.end());
  std::ranges::stable_sort(members, std::ranges::greater(),
                           [&](std::string_view member) { return Likeness(member, name); });
  const bool all = members.size() <= kMostMembers;
  if (!all) members.resize(kMostMembers);
  for (std::string_view& member : members) member = base::Beginning(member, kMostOfMember);
  return base::Join(members, ", ") + (all ? "" : " and others");
}

}  // namespace

std::string ServedKind::Document() const {
  if (group.empty()) return "/openapi/v3/api/" + version;
  return "/openapi/v3/apis/" + group + "/" + version;
}

std::vector<NamedPath> PathsInObjects(const UsageDefinition& definition) {
  std::vector<NamedPath> paths;
  for (std::size_t i = 0; i < definition.amounts.size(); ++i) {
    const Amount& amount = definition.amounts[i];
    const std::string field = "spec.usage[" + std::to_string(i) + "]";
    if (amount.path) paths.push_back({field + ".path", *amount.path});
    if (amount.of_class) paths.push_back({field + ".class.path", amount.of_class->path});
    if (amount.times) paths.push_back({field + ".times", *amount.times});
  }
  if (definition.counts_while) {
    paths.push_back({"spec.countsWhile.path", definition.counts_while->path});
  }
  for (std::size_t i = 0; i < definition.scopes.size(); ++i) {
    paths.push_back({"spec.scopes[" + std::to_string(i) + "].path", definition.scopes[i].path});
  }
  return paths;
}

std::vector<NamedPath> PathsInClass(const UsageDefinition& definition) {
  std::vector<NamedPath> paths;
  for (std::size_t i = 0; i < definition.amounts.size(); ++i) {
    const Amount& amount = definition.amounts[i];
    if (!amount.of_class) continue;
    paths.push_back({"spec.usage[" + std::to_string(i) + "].class.field", amount.of_class->field});
  }
  return paths;
}

// The schemas at one place. Several can describe a value: references and allOf mean all of them,
// anyOf and oneOf some. A member that one of them has is a member.
class SchemaDocument::Walk {
 public:
  Walk(SchemaDocument& document, const json::Value& kind, std::string called)
      : document_(document), called_(std::move(called)) {
    Add(kind, 0);
    is_object_ = true;
  }

  // Returns what is wrong with the path, "" if nothing is.
  std::string WhyNot(FieldPath::Steps steps) {
    for (std::size_t i = 0; i < steps.size() && !open_; ++i) {
      const FieldPath::Step& step = steps[i];
      const bool taken = step.each ? TakeElements() : TakeMember(step.name);
      if (taken || open_) continue;
      const bool lacks = !step.each && HasMembers();
      const std::string above = i == 0 ? "the object" : FieldPath::TextOf(steps.first(i));
      if (!lacks) return Told(above, step.each);
      return FieldPath::TextOf(steps.first(i + 1)) + " is not in the schema of " + called_ + ": " +
             above + " has " + MembersText(Members(), step.name);
    }
    const bool is_other = Is("array") || HasMembers() || Has("additionalProperties");
    const bool is_value = open_ || IsScalar() || !is_other;
    return is_value ? "" : Told(FieldPath::TextOf(steps), false);
  }

 private:
  void Add(const json::Value& schema, int depth) {
    if (depth > kDeepest || parts_.size() == kMostParts) {
      open_ = true;
      return;
    }
    parts_.push_back(&schema);
    if (const std::string_view reference = schema.StringAt({"$ref"}); !reference.empty()) {
      const json::Value* known = nullptr;
      if (reference.starts_with(kReference)) {
        known = document_.Find(std::string(reference.substr(kReference.size())));
      }
      if (known == nullptr) {
        open_ = true;
      } else {
        Add(*known, depth + 1);
      }
    }
    for (const std::string_view several : {"allOf", "anyOf", "oneOf"}) {
      for (const json::Value& one : schema.ArrayAt({several})) Add(one, depth + 1);
    }
  }

  [[nodiscard]] bool Is(std::string_view type) const {
    return std::ranges::any_of(
        parts_, [&](const json::Value* part) { return part->StringAt({"type"}) == type; });
  }
  [[nodiscard]] bool Any(std::string_view extension) const {
    return std::ranges::any_of(parts_,
                               [&](const json::Value* part) { return IsTrue(*part, extension); });
  }
  [[nodiscard]] bool Has(std::string_view member) const {
    return std::ranges::any_of(
        parts_, [&](const json::Value* part) { return part->At({member}) != nullptr; });
  }
  [[nodiscard]] bool IsScalar() const {
    return Is("string") || Is("integer") || Is("number") || Is("boolean") ||
           Any("x-kubernetes-int-or-string");
  }
  [[nodiscard]] std::vector<std::string_view> Members() const {
    std::vector<std::string_view> members;
    for (const json::Value* part : parts_) {
      const json::Value* properties = part->At({"properties"});
      if (properties == nullptr || properties->AsObject() == nullptr) continue;
      for (const auto& [name, schema] : *properties->AsObject()) members.emplace_back(name);
    }
    return members;
  }
  [[nodiscard]] bool HasMembers() const { return !Members().empty(); }

  // What the value at this place is, which does not suit the next step of the path, or its end.
  [[nodiscard]] std::string Told(const std::string& place, bool each) const {
    const bool is_list = Is("array");
    const char* const what = is_list      ? " is a list, and the path lacks [*] for its elements"
                             : each       ? " is no list, so it has no [*]"
                             : IsScalar() ? " is a value, which has no members"
                                          : " is an object, not a value";
    return "by the schema of " + called_ + " " + place + what;
  }

  // Goes on to the schemas that `find` returns for the parts.
  template <typename Find>
  bool Descend(const Find& find) {
    const std::vector<const json::Value*> parts = std::exchange(parts_, {});
    for (const json::Value* part : parts) {
      if (const json::Value* below = find(*part)) Add(*below, 0);
    }
    if (!parts_.empty()) {
      is_object_ = false;
      return true;
    }
    parts_ = parts;
    return false;
  }

  // The next two return false, and stay, if the schema has no such place.
  bool TakeMember(const std::string& name) {
    const auto member = [&](const json::Value& part) { return part.At({"properties", name}); };
    if (Descend(member)) return true;
    // Every resource has these.
    const bool is_resource = is_object_ || Any("x-kubernetes-embedded-resource");
    if (is_resource && base::IsOneOf(name, {"apiVersion", "kind", "metadata"})) return Open();
    if (Any("x-kubernetes-preserve-unknown-fields") || Any("additionalProperties")) return Open();
    const auto of_map = [](const json::Value& part) -> const json::Value* {
      const json::Value* any = part.At({"additionalProperties"});
      return any != nullptr && any->IsObject() ? any : nullptr;
    };
    if (Descend(of_map)) return true;
    if (HasMembers() || Is("array")) return false;
    // An object without known members is free-form, and so is what has no type.
    return Is("object") || !IsScalar() ? Open() : false;
  }

  bool TakeElements() {
    const auto elements = [](const json::Value& part) { return part.At({"items"}); };
    if (Descend(elements)) return true;
    const bool is_other = Is("object") || HasMembers() || IsScalar();
    return Is("array") || !is_other ? Open() : false;
  }

  bool Open() {
    open_ = true;
    return true;
  }

  SchemaDocument& document_;
  std::string called_;
  std::vector<const json::Value*> parts_;
  bool is_object_ = false;
  bool open_ = false;  // anything goes from here on
};

base::Result<SchemaDocument> SchemaDocument::Read(std::string text) {
  const json::Projection kinds({"components.schemas.*.x-kubernetes-group-version-kind"});
  auto read = json::Skim(text, kinds, {.bytes = kMostBytes});
  if (!read) return read.error();
  SchemaDocument document;
  document.text_ = std::move(text);
  if (const json::Value* schemas = read->At({"components", "schemas"})) document.kinds_ = *schemas;
  return document;
}

const json::Value* SchemaDocument::Find(const std::string& name) {
  auto found = schemas_.find(name);
  if (found == schemas_.end()) {
    if (schemas_.size() == kMostSchemas || name.find_first_of("[]") != std::string::npos) {
      return nullptr;
    }
    const json::Projection one({"components.schemas[" + name + "]"});
    auto read = json::Skim(text_, one, {.bytes = kMostBytes});
    const json::Value* schema = read ? read->At({"components", "schemas", name}) : nullptr;
    found = schemas_.emplace(name, schema == nullptr ? std::nullopt : std::optional(*schema)).first;
  }
  return found->second ? &*found->second : nullptr;
}

base::Result<std::string> SchemaDocument::WhyNot(const ServedKind& kind,
                                                 const std::vector<NamedPath>& paths) {
  const auto is_kind = [&](const json::Value& one) {
    return one.StringAt({"group"}) == kind.group && one.StringAt({"version"}) == kind.version &&
           one.StringAt({"kind"}) == kind.kind;
  };
  const json::Value* schema = nullptr;
  if (const json::Object* schemas = kinds_.AsObject()) {
    for (const auto& [name, of] : *schemas) {
      const json::Array& kinds = of.ArrayAt({"x-kubernetes-group-version-kind"});
      if (std::ranges::any_of(kinds, is_kind)) schema = Find(name);
      if (schema != nullptr) break;
    }
  }
  const std::string called =
      kind.kind + " (" + (kind.group.empty() ? "" : kind.group + "/") + kind.version + ")";
  if (schema == nullptr) {
    return base::Error{.code = base::ErrorCode::kNotFound,
                       .message = kind.Document() + " has no schema of " + called};
  }
  for (const NamedPath& one : paths) {
    const std::string why = Walk(*this, *schema, called).WhyNot(one.path.steps());
    if (!why.empty()) return one.field + ": " + why;
  }
  return std::string();
}

}  // namespace quota::usage
