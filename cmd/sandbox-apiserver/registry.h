#pragma once

// Which resources the sandbox serves: a built-in table, and what CustomResourceDefinitions add.
// Discovery documents, routing and the store all ask here.
//
// Types are immutable and shared: a watch that outlives its CRD keeps a valid type. One thread.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/resource.h"
#include "pkg/json/value.h"

namespace sandbox {

// A column of a table that a CRD asks for.
struct PrinterColumn {
  std::string name;
  std::string type;
  std::string json_path;
  std::int64_t priority = 0;
};

// One resource in one version.
struct ResourceType {
  std::string group;
  std::string version;
  std::string resource;  // plural
  std::string singular;
  std::string kind;
  std::string list_kind;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  std::vector<std::string> verbs;  // as in discovery, sorted
  bool namespaced = true;
  bool status = false;       // has the subresource /status
  bool create_only = false;  // a review: POST is answered, nothing is stored
  bool custom = false;       // from a CRD: no strategic merge patch, RV required for PUT

  // Of custom resources only.
  std::shared_ptr<const json::Value> schema;  // openAPIV3Schema; null: no restrictions
  std::vector<PrinterColumn> columns;
  std::vector<std::string> selectable_fields;  // ".spec.x"
  std::string storage_version;                 // of stored objects; reads convert apiVersion

  [[nodiscard]] api::GroupVersionResource gvr() const { return {group, version, resource}; }
  [[nodiscard]] api::GroupResource group_resource() const { return {group, resource}; }
  // "v1", "apps/v1".
  [[nodiscard]] std::string ApiVersion() const { return gvr().GroupVersion(); }
  [[nodiscard]] bool HasVerb(std::string_view verb) const;
  // True for the core resource of this name: types with rules of their own.
  [[nodiscard]] bool IsCore(std::string_view plural) const {
    return group.empty() && resource == plural;
  }
};

using TypePtr = std::shared_ptr<const ResourceType>;

class Registry {
 public:
  // With the built-in table.
  Registry();

  // nullptr if not served.
  [[nodiscard]] TypePtr Find(std::string_view group, std::string_view version,
                             std::string_view resource) const;
  // Returns the type in its preferred version.
  [[nodiscard]] TypePtr FindAny(const api::GroupResource& resource) const;

  // Everything served, in the order of discovery: group, then preferred version first.
  [[nodiscard]] const std::vector<TypePtr>& types() const { return types_; }
  // Groups without the core group, each once, in discovery order.
  [[nodiscard]] std::vector<std::string> Groups() const;
  // The versions of a group, the preferred one first.
  [[nodiscard]] std::vector<std::string> Versions(std::string_view group) const;

  // Replaces the types of the CRD with this name (`<plural>.<group>`). An empty list removes them.
  void SetCustom(const std::string& crd_name, std::vector<ResourceType> types);
  // Increases with every change; used for the ETag of discovery.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }

 private:
  void Rebuild();

  std::vector<TypePtr> built_in_;
  std::map<std::string, std::vector<TypePtr>> custom_;  // by CRD name
  std::vector<TypePtr> types_;
  std::uint64_t generation_ = 1;
};

// The table of Registry().
std::vector<ResourceType> BuiltInTypes();

}  // namespace sandbox
