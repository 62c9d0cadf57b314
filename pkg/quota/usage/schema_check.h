#pragma once

// Whether the objects of a kind can have a field, by the OpenAPI v3 document that the API server
// serves for a group and version (KEP-2896): so a mistyped path is
// told. The schema is foreign input. What it leaves open is no mistake: a free-form object may have
// any member, and a part of the document that cannot be read may be anything.
//
// No I/O, one thread.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/json/value.h"
#include "pkg/quota/usage/usage_definition.h"

namespace quota::usage {

// A kind in one version.
struct ServedKind {
  std::string group;
  std::string version;
  std::string kind;
  bool operator==(const ServedKind& other) const = default;
  // "/openapi/v3/apis/storage.example.com/v1"
  [[nodiscard]] std::string Document() const;
};

// A path of a definition, and the field that has it: "spec.usage[0].path".
struct NamedPath {
  std::string field;
  FieldPath path;
  bool operator==(const NamedPath& other) const = default;
};

// The paths that lead into the counted objects, and those that lead into their class.
std::vector<NamedPath> PathsInObjects(const UsageDefinition& definition);
std::vector<NamedPath> PathsInClass(const UsageDefinition& definition);

class SchemaDocument {
 public:
  // Of one schema; a larger one is unknown. And of schemas that are read for one document.
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20U;
  static constexpr std::size_t kMostSchemas = 64;

  // Errors: kMalformed, kTooLarge.
  static base::Result<SchemaDocument> Read(std::string text);

  // Returns "" if the objects can have all fields, or if that is not known. Else the first field
  // that they cannot have: "spec.usage[0].path: spec.siez is not in the schema of Bucket
  // (storage.example.com/v1): spec has size, tier". Errors: kNotFound, the document lacks the kind.
  base::Result<std::string> WhyNot(const ServedKind& kind, const std::vector<NamedPath>& paths);

 private:
  class Walk;

  // Each schema is read from the text alone: a document of many kinds is never a tree.
  const json::Value* Find(const std::string& name);

  std::string text_;
  json::Value kinds_;  // components.schemas, with the kinds of each
  std::map<std::string, std::optional<json::Value>> schemas_;
};

}  // namespace quota::usage
