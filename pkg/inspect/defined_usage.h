#pragma once

// What objects of files use by UsageDefinitions, and the output of `kubectl quota usage-definition
// test`. Pure; any thread.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/resource.h"
#include "pkg/base/error.h"
#include "pkg/inspect/manifest.h"
#include "pkg/inspect/table.h"
#include "pkg/json/value.h"
#include "pkg/quota/class_table.h"
#include "pkg/quota/evaluator.h"
#include "pkg/quota/facts.h"
#include "pkg/quota/usage/usage_definition.h"

namespace inspect {

// What an object uses under one name.
struct NamedUse {
  std::string name;
  quota::Quantity amount;  // if it is unknown, what is known of it
  std::string why;         // it is unknown; "": it is known
  std::string ignored;     // why it uses nothing, if an invalid amount is ignored
};

struct DefinedUsage {
  std::string api_version;
  std::string kind;
  std::string ns;  // "": the object states none
  ObjectName object;
  std::vector<NamedUse> uses;  // in the order of the definition
  std::string count_name;      // "count/buckets.storage.example.com": it counts as one
  std::string idle;  // why it uses nothing: "status.phase is Released", "it has ended"; "" else
  std::vector<quota::Attribute> scopes;
};

// The sum over objects, as a quota without scopes would count them.
struct DefinedTotal {
  quota::ResourceList amounts;    // what is known of them
  std::set<std::string> unknown;  // names that some object uses an unknown amount of
};

// Why a definition would not be in force: what the daemon's condition Ready would say.
struct DefinitionFault {
  std::string definition;  // its name
  std::string where;       // file and object
  std::string reason;      // "PathNotInSchema"
  std::string message;     // "spec.usage[0].path: spec.siez is not in the schema of …"
};

// Definitions, and the classes that they refer to.
class DefinitionBook {
 public:
  // Errors: kInvalidArgument, naming the file, the object and the field: it cannot be read, has
  // an unknown field, or another one describes its resource or has one of its names.
  base::Result<void> Add(const Manifest& definition);
  // Adds an object that is a class of some definitions, or none. Returns true if it is one.
  bool AddClass(const api::GroupResource& resource, const json::Value& object);

  // The first fault of each definition by those CustomResourceDefinitions that are of its kind, or
  // of its class: the objects are in no namespace, or cannot have one of the paths.
  [[nodiscard]] std::vector<DefinitionFault> FaultsBy(
      const std::vector<json::Value>& custom_kinds) const;

  // The resources that are described, sorted; and those, and those of the classes.
  [[nodiscard]] std::vector<api::GroupResource> Described() const;
  [[nodiscard]] std::set<api::GroupResource> Named() const;
  // Returns what the object uses; nullopt if no definition describes its resource. Call after all
  // classes were added. Errors: as Evaluator::facts_of.
  [[nodiscard]] base::Result<std::optional<DefinedUsage>> UsageOf(
      const api::GroupResource& resource, const json::Value& object) const;

 private:
  using Reasons = std::map<std::string, std::string, std::less<>>;  // by name
  struct Entry {
    quota::usage::UsageDefinition definition;
    std::string where;   // Manifest::where
    std::string called;  // "usagedefinition.quota-controller-manager.io/buckets.…"
    quota::Evaluator evaluator;
    quota::ClassTable classes;
    std::map<std::string, Reasons, std::less<>> unknown;  // in a class, by its name
  };
  [[nodiscard]] static quota::ResourceList Resolve(const Entry& entry, const quota::Facts& facts,
                                                   Reasons& unknown);

  std::map<api::GroupResource, Entry> entries_;
};

DefinedTotal TotalOf(const std::vector<DefinedUsage>& all);

// A row for each object and name; with scopes if `wide`. What needs a reason has one in a further
// column.
Table DefinedTable(const std::vector<DefinedUsage>& all, bool wide);
Table DefinedTotalTable(const DefinedTotal& total);

// {"apiVersion": …, "kind": "UsageDefinitionTest", "objects": [{"name", …}], "total": {…},
// "unknown": [names], "definitions": [{"name", "reason", "message"}]}; the last one only if some
// have a fault.
json::Value DefinedValue(const std::vector<DefinedUsage>& all, const DefinedTotal& total,
                         const std::vector<DefinitionFault>& faults);

}  // namespace inspect
