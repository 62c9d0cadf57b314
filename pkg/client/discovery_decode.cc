#include <algorithm>
#include <set>

#include "pkg/api/object_meta.h"
#include "pkg/client/discovery.h"
#include "pkg/client/files.h"

namespace client {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;

Error Malformed(std::string what) {
  return {.code = ErrorCode::kMalformed, .message = std::move(what)};
}

// Returns the array of that name; empty if it is absent or null. Anything else is an error.
Result<const json::Array*> ArrayOf(const json::Value& object, std::string_view name) {
  static const json::Array none;
  const json::Value* value = object.At({name});
  if (value == nullptr || value->IsNull()) return &none;
  if (value->IsArray()) return value->AsArray();
  return Malformed("discovery: " + std::string(name) + " is not a list but of type " +
                   std::string(value->TypeName()));
}

std::vector<std::string> Strings(const json::Value& object, std::string_view name) {
  std::vector<std::string> strings;
  const json::Value* value = object.At({name});
  if (value == nullptr || !value->IsArray()) return strings;
  for (const json::Value& element : *value->AsArray()) {
    if (const std::string* text = element.AsString()) strings.push_back(*text);
  }
  return strings;
}

// nullopt for an entry without a kind, which only lists subresources.
std::optional<ApiResource> DecodeResource(const json::Value& item, const GroupVersion& of) {
  ApiResource resource;
  resource.gvr = {of.group, of.version, std::string(item.StringAt({"resource"}))};
  resource.kind = item.StringAt({"responseKind", "kind"});
  resource.singular = item.StringAt({"singularResource"});
  resource.short_names = Strings(item, "shortNames");
  resource.namespaced = item.StringAt({"scope"}) == "Namespaced";
  resource.verbs = Strings(item, "verbs");
  const json::Value* subresources = item.At({"subresources"});
  if (subresources != nullptr && subresources->IsArray()) {
    for (const json::Value& subresource : *subresources->AsArray()) {
      resource.subresources.emplace_back(subresource.StringAt({"subresource"}));
    }
  }
  if (resource.kind.empty() || resource.gvr.resource.empty()) return std::nullopt;
  return resource;
}

Result<void> DecodeVersion(const json::Value& version, const std::string& group, Discovered& into) {
  const GroupVersion of{group, std::string(version.StringAt({"version"}))};
  if (of.version.empty())
    return Malformed("discovery: group \"" + group + "\" has a nameless version");
  if (version.StringAt({"freshness"}) == "Stale") {
    into.failed.push_back(of);
    return {};
  }
  const Result<const json::Array*> resources = ArrayOf(version, "resources");
  if (!resources) return resources.error();
  for (const json::Value& item : **resources) {
    if (std::optional<ApiResource> resource = DecodeResource(item, of)) {
      into.resources.push_back(*std::move(resource));
    }
  }
  return {};
}

Result<void> AppendVersions(const json::Value& group, std::vector<GroupVersion>& into) {
  const std::string name(group.StringAt({"name"}));
  const std::string preferred(group.StringAt({"preferredVersion", "version"}));
  const Result<const json::Array*> versions = ArrayOf(group, "versions");
  if (!versions) return versions.error();
  if (!preferred.empty()) into.push_back({name, preferred});
  for (const json::Value& version : **versions) {
    const GroupVersion of{name, std::string(version.StringAt({"version"}))};
    if (!of.version.empty() && of.version != preferred) into.push_back(of);
  }
  return {};
}

void AttachSubresources(const std::vector<std::pair<std::string, std::string>>& found,
                        std::vector<ApiResource>& resources) {
  for (const auto& [parent, name] : found) {
    for (ApiResource& resource : resources) {
      if (resource.gvr.resource == parent) resource.subresources.push_back(name);
    }
  }
}

}  // namespace

bool ApiResource::Has(std::string_view verb) const {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

std::string GroupVersion::ToString() const {
  return group.empty() ? version : group + "/" + version;
}

bool IsAggregated(std::string_view content_type) {
  std::set<std::string_view> wanted{"g=apidiscovery.k8s.io", "v=v2", "as=APIGroupDiscoveryList"};
  while (!content_type.empty()) {
    const std::size_t end = std::min(content_type.find(';'), content_type.size());
    wanted.erase(Trim(content_type.substr(0, end)));
    content_type.remove_prefix(std::min(end + 1, content_type.size()));
  }
  return wanted.empty();
}

Result<Discovered> DecodeAggregated(const json::Value& list) {
  Discovered discovered;
  if (api::Kind(list) != "APIGroupDiscoveryList") {
    return Malformed("discovery: the answer is not an APIGroupDiscoveryList");
  }
  const Result<const json::Array*> groups = ArrayOf(list, "items");
  if (!groups) return groups.error();
  for (const json::Value& group : **groups) {
    const Result<const json::Array*> versions = ArrayOf(group, "versions");
    if (!versions) return versions.error();
    const std::string name(api::Name(group));
    for (const json::Value& version : **versions) {
      const Result<void> decoded = DecodeVersion(version, name, discovered);
      if (!decoded) return decoded.error();
    }
  }
  return discovered;
}

Result<std::vector<GroupVersion>> DecodeLegacyVersions(const json::Value& list) {
  std::vector<GroupVersion> found;
  if (api::Kind(list) == "APIVersions") {
    for (std::string& version : Strings(list, "versions"))
      found.push_back({"", std::move(version)});
    return found;
  }
  if (api::Kind(list) != "APIGroupList") {
    return Malformed("discovery: the answer is neither APIVersions nor APIGroupList");
  }
  const Result<const json::Array*> groups = ArrayOf(list, "groups");
  if (!groups) return groups.error();
  for (const json::Value& group : **groups) {
    const Result<void> appended = AppendVersions(group, found);
    if (!appended) return appended.error();
  }
  return found;
}

Result<std::vector<ApiResource>> DecodeLegacyResources(const json::Value& list,
                                                       const GroupVersion& of) {
  if (api::Kind(list) != "APIResourceList") {
    return Malformed("discovery of " + of.ToString() + ": the answer is not an APIResourceList");
  }
  const Result<const json::Array*> items = ArrayOf(list, "resources");
  if (!items) return items.error();
  std::vector<ApiResource> resources;
  std::vector<std::pair<std::string, std::string>> subresources;
  for (const json::Value& item : **items) {
    const std::string name(item.StringAt({"name"}));
    if (const std::size_t slash = name.find('/'); slash != std::string::npos) {
      subresources.emplace_back(name.substr(0, slash), name.substr(slash + 1));
      continue;
    }
    ApiResource resource;
    resource.gvr = {of.group, of.version, name};
    resource.kind = api::Kind(item);
    resource.singular = item.StringAt({"singularName"});
    resource.short_names = Strings(item, "shortNames");
    const json::Value* namespaced = item.At({"namespaced"});
    resource.namespaced = namespaced != nullptr && namespaced->AsBool().value_or(false);
    resource.verbs = Strings(item, "verbs");
    if (!name.empty() && !resource.kind.empty()) resources.push_back(std::move(resource));
  }
  AttachSubresources(subresources, resources);
  return resources;
}

void MarkPreferred(std::vector<ApiResource>& resources) {
  std::set<api::GroupResource> seen;
  for (ApiResource& resource : resources) {
    resource.preferred = seen.insert(resource.gvr.WithoutVersion()).second;
  }
}

}  // namespace client
