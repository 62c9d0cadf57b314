// Pruning, defaulting and validation by a structural schema.

#include <algorithm>
#include <cmath>
#include <regex>

#include "cmd/sandbox-apiserver/crd.h"

namespace sandbox {
namespace {

using json::Array;
using json::Object;
using json::Value;

bool IsTrue(const Value& schema, std::string_view member) {
  const Value* const value = schema.At({member});
  return value != nullptr && value->AsBool().value_or(false);
}

// The schema of a member: of `properties`, else of `additionalProperties`; nullptr if unknown.
const Value* SchemaOf(const Value& schema, std::string_view member) {
  if (const Value* known = schema.At({"properties", member})) return known;
  const Value* const additional = schema.At({"additionalProperties"});
  return additional != nullptr && additional->IsObject() ? additional : nullptr;
}

bool TakesAnyMember(const Value& schema) {
  return IsTrue(schema, "x-kubernetes-preserve-unknown-fields") ||
         IsTrue(schema, "additionalProperties");
}

// The type as the messages name it.
std::string_view GoTypeName(const Value& value) {
  return value.AsInt64() ? "integer" : value.TypeName();
}

std::string Join(const std::string& path, std::string_view member) {
  return path.empty() ? std::string(member) : path + "." + std::string(member);
}

void PruneAt(const Value& schema, Value& value, const std::string& path,
             std::vector<std::string>& removed) {
  if (Array* list = value.AsArray()) {
    const Value* const items = schema.At({"items"});
    for (std::size_t i = 0; items != nullptr && i < list->size(); ++i) {
      PruneAt(*items, (*list)[i], path + "[" + std::to_string(i) + "]", removed);
    }
    return;
  }
  Object* const object = value.AsObject();
  if (object == nullptr) return;
  const bool embedded = path.empty() || IsTrue(schema, "x-kubernetes-embedded-resource");
  std::vector<std::string> unknown;
  for (auto& [name, below] : *object) {
    if (embedded && (name == "apiVersion" || name == "kind" || name == "metadata")) continue;
    if (const Value* known = SchemaOf(schema, name)) {
      PruneAt(*known, below, Join(path, name), removed);
    } else if (!TakesAnyMember(schema)) {
      unknown.push_back(name);
    }
  }
  for (const std::string& name : unknown) {
    object->Erase(name);
    removed.push_back(Join(path, name));
  }
}

class SchemaValidator {
 public:
  FieldErrors Run(const Value& schema, const Value& object) {
    Check(schema, object, "");
    return std::move(errors_);
  }

 private:
  // "spec.x in body", as the messages of the OpenAPI validator begin.
  static std::string InBody(const std::string& path) {
    return path.empty() ? "in body" : path + " in body";
  }

  bool HasType(const Value& schema, const Value& value, const std::string& path) {
    if (IsTrue(schema, "x-kubernetes-int-or-string")) {
      if (value.IsString() || value.AsInt64()) return true;
      errors_.Invalid(path, GoTypeName(value),
                      InBody(path) + " must be of type integer,string: \"" +
                          std::string(GoTypeName(value)) + "\"");
      return false;
    }
    const std::string type(schema.StringAt({"type"}));
    if (type.empty()) return true;
    const bool integral = value.AsInt64().has_value() || IsWholeDouble(value);
    const bool fits =
        (type == "object" && value.IsObject()) || (type == "array" && value.IsArray()) ||
        (type == "string" && value.IsString()) || (type == "boolean" && value.IsBool()) ||
        (type == "number" && value.IsNumber()) || (type == "integer" && integral);
    if (fits) return true;
    errors_.Invalid(
        path, GoTypeName(value),
        InBody(path) + " must be of type " + type + ": \"" + std::string(GoTypeName(value)) + "\"");
    return false;
  }

  // A double represents all whole numbers up to this one.
  static bool IsWholeDouble(const Value& value) {
    constexpr double kLargest = 9007199254740991;
    const std::optional<double> number = value.AsDouble();
    return number && std::abs(*number) <= kLargest && std::trunc(*number) == *number;
  }

  void Check(const Value& schema, const Value& value, const std::string& path) {
    if (value.IsNull() && IsTrue(schema, "nullable")) return;
    if (!HasType(schema, value, path)) return;
    if (const Value* allowed = schema.At({"enum"})) CheckEnum(*allowed, value, path);
    if (value.IsNumber()) CheckNumber(schema, value, path);
    if (value.IsString()) CheckString(schema, value, path);
    if (value.IsArray()) CheckArray(schema, *value.AsArray(), path);
    if (value.IsObject()) CheckObject(schema, *value.AsObject(), path);
  }

  void CheckEnum(const Value& allowed, const Value& value, const std::string& path) {
    const Array* const list = allowed.AsArray();
    if (list == nullptr || std::find(list->begin(), list->end(), value) != list->end()) return;
    std::vector<std::string> names;
    for (const Value& one : *list) {
      names.push_back(one.IsString() ? *one.AsString() : json::Write(one));
    }
    errors_.NotSupported(path, value, names);
  }

  void CheckNumber(const Value& schema, const Value& value, const std::string& path) {
    const double number = value.AsDouble().value_or(0);
    const auto check = [&](const char* bound, const char* exclusive, double sign,
                           const char* words) {
      const Value* const limit = schema.At({bound});
      if (limit == nullptr) return;
      const double beyond = (limit->AsDouble().value_or(0) - number) * sign;
      if (beyond < 0 || (beyond == 0 && !IsTrue(schema, exclusive))) return;
      errors_.Invalid(path, value,
                      InBody(path) + " should be " + words + " than " +
                          (IsTrue(schema, exclusive) ? "" : "or equal to ") + json::Write(*limit));
    };
    check("minimum", "exclusiveMinimum", 1, "greater");
    check("maximum", "exclusiveMaximum", -1, "less");
  }

  // `least` and `most` are members of the schema: minItems and maxItems.
  void CheckSize(const Value& schema, std::string_view least, std::string_view most,
                 std::size_t size, const std::string& path) {
    const auto bound = [&schema](std::string_view member) {
      const Value* const number = schema.At({member});
      return number != nullptr ? number->AsInt64() : std::nullopt;
    };
    const auto actual = static_cast<std::int64_t>(size);
    if (const auto limit = bound(least); limit && actual < *limit) {
      errors_.Invalid(path, actual,
                      InBody(path) + " should have at least " + std::to_string(*limit));
    }
    if (const auto limit = bound(most); limit && actual > *limit) {
      errors_.Invalid(path, actual,
                      InBody(path) + " should have at most " + std::to_string(*limit));
    }
  }

  void CheckString(const Value& schema, const Value& value, const std::string& path) {
    const std::string& text = *value.AsString();
    const auto length = std::count_if(text.begin(), text.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    });
    CheckSize(schema, "minLength", "maxLength", static_cast<std::size_t>(length), path);
    const std::string pattern(schema.StringAt({"pattern"}));
    if (!pattern.empty() && !MatchesPattern(text, pattern)) {
      errors_.Invalid(path, value, InBody(path) + " should match '" + pattern + "'");
    }
  }

  // A pattern that the library cannot parse is ignored.
  static bool MatchesPattern(const std::string& text, const std::string& pattern) {
    try {
      return std::regex_search(text, std::regex(pattern, std::regex::ECMAScript));
    } catch (const std::regex_error&) {
      return true;
    }
  }

  void CheckArray(const Value& schema, const Array& list, const std::string& path) {
    CheckSize(schema, "minItems", "maxItems", list.size(), path);
    const Value* const items = schema.At({"items"});
    for (std::size_t i = 0; items != nullptr && i < list.size(); ++i) {
      Check(*items, list[i], path + "[" + std::to_string(i) + "]");
    }
  }

  void CheckObject(const Value& schema, const Object& object, const std::string& path) {
    for (const Value& name : schema.ArrayAt({"required"})) {
      if (name.IsString() && !object.Contains(*name.AsString())) {
        errors_.Required(Join(path, *name.AsString()));
      }
    }
    CheckSize(schema, "minProperties", "maxProperties", object.size(), path);
    for (const auto& [name, value] : object) {
      if (path.empty() && name == "metadata") continue;
      const Value* const below = SchemaOf(schema, name);
      if (below != nullptr) Check(*below, value, Join(path, name));
    }
  }

  FieldErrors errors_;
};

}  // namespace

std::vector<std::string> Prune(const Value& schema, Value& object) {
  std::vector<std::string> removed;
  PruneAt(schema, object, "", removed);
  return removed;
}

void ApplySchemaDefaults(const Value& schema, Value& value) {
  if (Array* list = value.AsArray()) {
    const Value* const items = schema.At({"items"});
    for (Value& element : *list) {
      if (items != nullptr) ApplySchemaDefaults(*items, element);
    }
    return;
  }
  Object* const object = value.AsObject();
  if (object == nullptr) return;
  const Value* const properties = schema.At({"properties"});
  if (properties != nullptr && properties->IsObject()) {
    for (const auto& [name, below] : *properties->AsObject()) {
      const Value* const fallback = below.At({"default"});
      const Value* const present = object->Find(name);
      const bool absent = present == nullptr || (present->IsNull() && !IsTrue(below, "nullable"));
      if (absent && fallback != nullptr) object->Set(name, *fallback);
    }
  }
  for (auto& [name, below] : *object) {
    if (const Value* known = SchemaOf(schema, name)) ApplySchemaDefaults(*known, below);
  }
}

FieldErrors ValidateBySchema(const Value& schema, const Value& object) {
  return SchemaValidator().Run(schema, object);
}

}  // namespace sandbox
