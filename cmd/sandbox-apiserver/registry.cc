#include "cmd/sandbox-apiserver/registry.h"

#include <algorithm>

namespace sandbox {
namespace {

TypePtr FindIf(const std::vector<TypePtr>& types, auto matches) {
  auto found = std::find_if(types.begin(), types.end(), matches);
  return found == types.end() ? nullptr : *found;
}

// The order in which discovery shows groups: the core group, the built-in ones as in the table,
// then custom ones by name; equal ranks keep their order.
std::size_t GroupRank(const std::vector<std::string>& groups, const std::string& group) {
  return static_cast<std::size_t>(std::find(groups.begin(), groups.end(), group) - groups.begin());
}

void AddOnce(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

}  // namespace

bool ResourceType::HasVerb(std::string_view verb) const {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

Registry::Registry() {
  for (ResourceType& type : BuiltInTypes()) {
    built_in_.push_back(std::make_shared<const ResourceType>(std::move(type)));
  }
  Rebuild();
}

TypePtr Registry::Find(std::string_view group, std::string_view version,
                       std::string_view resource) const {
  return FindIf(types_, [&](const TypePtr& type) {
    return type->group == group && type->version == version && type->resource == resource;
  });
}

TypePtr Registry::FindAny(const api::GroupResource& resource) const {
  return FindIf(types_, [&](const TypePtr& type) {
    return type->group == resource.group && type->resource == resource.resource;
  });
}

std::vector<std::string> Registry::Groups() const {
  std::vector<std::string> groups;
  for (const TypePtr& type : types_) {
    if (!type->group.empty()) AddOnce(groups, type->group);
  }
  return groups;
}

std::vector<std::string> Registry::Versions(std::string_view group) const {
  std::vector<std::string> versions;
  for (const TypePtr& type : types_) {
    if (type->group == group) AddOnce(versions, type->version);
  }
  return versions;
}

void Registry::SetCustom(const std::string& crd_name, std::vector<ResourceType> types) {
  if (types.empty()) {
    if (custom_.erase(crd_name) == 0) return;
  } else {
    std::vector<TypePtr>& mine = custom_[crd_name];
    mine.clear();
    for (ResourceType& type : types) {
      mine.push_back(std::make_shared<const ResourceType>(std::move(type)));
    }
  }
  ++generation_;
  Rebuild();
}

void Registry::Rebuild() {
  types_ = built_in_;
  for (const auto& [name, types] : custom_) types_.insert(types_.end(), types.begin(), types.end());
  std::vector<std::string> groups;
  for (const TypePtr& type : types_) AddOnce(groups, type->group);
  std::stable_sort(types_.begin(), types_.end(), [&](const TypePtr& a, const TypePtr& b) {
    return GroupRank(groups, a->group) < GroupRank(groups, b->group);
  });
}

}  // namespace sandbox
