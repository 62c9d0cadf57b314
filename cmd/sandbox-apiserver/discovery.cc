#include "cmd/sandbox-apiserver/discovery.h"

#include <cstdint>
#include <cstdio>
#include <utility>

namespace sandbox {
namespace {

json::Value Strings(const std::vector<std::string>& texts) {
  return json::Array(texts.begin(), texts.end());
}

json::Object GroupVersionKind(const ResourceType& type) {
  return {{"group", type.group}, {"version", type.version}, {"kind", type.kind}};
}

struct Subresource {
  std::string name;
  std::vector<std::string> verbs;
};

std::vector<Subresource> SubresourcesOf(const ResourceType& type) {
  std::vector<Subresource> found;
  if (type.IsCore("namespaces")) found.push_back({"finalize", {"update"}});
  if (type.IsCore("pods")) found.push_back({"resize", {"get", "patch", "update"}});
  if (type.status) found.push_back({"status", {"get", "patch", "update"}});
  return found;
}

json::Value LegacyResource(const ResourceType& type) {
  json::Object entry{{"name", type.resource},
                     {"singularName", type.singular},
                     {"namespaced", type.namespaced},
                     {"kind", type.kind},
                     {"verbs", Strings(type.verbs)}};
  if (!type.short_names.empty()) entry.Set("shortNames", Strings(type.short_names));
  if (!type.categories.empty()) entry.Set("categories", Strings(type.categories));
  return entry;
}

json::Value LegacySubresource(const ResourceType& type, const Subresource& subresource) {
  return json::Object{{"name", type.resource + "/" + subresource.name},
                      {"singularName", ""},
                      {"namespaced", type.namespaced},
                      {"kind", type.kind},
                      {"verbs", Strings(subresource.verbs)}};
}

json::Value AggregatedResource(const ResourceType& type) {
  json::Object entry{{"resource", type.resource},
                     {"responseKind", GroupVersionKind(type)},
                     {"scope", type.namespaced ? "Namespaced" : "Cluster"},
                     {"singularResource", type.singular},
                     {"verbs", Strings(type.verbs)}};
  if (!type.short_names.empty()) entry.Set("shortNames", Strings(type.short_names));
  if (!type.categories.empty()) entry.Set("categories", Strings(type.categories));
  json::Array subresources;
  for (const Subresource& subresource : SubresourcesOf(type)) {
    subresources.push_back(json::Object{{"subresource", subresource.name},
                                        {"responseKind", GroupVersionKind(type)},
                                        {"verbs", Strings(subresource.verbs)}});
  }
  if (!subresources.empty()) entry.Set("subresources", std::move(subresources));
  return entry;
}

std::vector<std::string> GroupsOf(const Registry& registry, const StaleGroups& stale) {
  std::vector<std::string> groups = registry.Groups();
  for (const auto& [group, version] : stale) {
    if (registry.Versions(group).empty()) groups.push_back(group);
  }
  return groups;
}

std::vector<std::string> VersionsOf(const Registry& registry, const StaleGroups& stale,
                                    std::string_view group) {
  std::vector<std::string> versions = registry.Versions(group);
  const auto found = stale.find(group);
  if (versions.empty() && found != stale.end()) versions.push_back(found->second);
  return versions;
}

json::Value AggregatedGroup(const Registry& registry, const StaleGroups& stale,
                            const std::string& group) {
  json::Array versions;
  for (const std::string& version : VersionsOf(registry, stale, group)) {
    if (stale.contains(group)) {
      versions.push_back(json::Object{{"version", version}, {"freshness", "Stale"}});
      continue;
    }
    json::Array resources;
    for (const TypePtr& type : registry.types()) {
      if (type->group == group && type->version == version) {
        resources.push_back(AggregatedResource(*type));
      }
    }
    versions.push_back(json::Object{
        {"version", version}, {"resources", std::move(resources)}, {"freshness", "Current"}});
  }
  json::Object metadata;
  if (!group.empty()) metadata.Set("name", group);
  metadata.Set("creationTimestamp", nullptr);
  return json::Object{{"metadata", std::move(metadata)}, {"versions", std::move(versions)}};
}

std::string DocumentPath(std::string_view group, std::string_view version) {
  if (group.empty()) return "api/" + std::string(version);
  return "apis/" + std::string(group) + "/" + std::string(version);
}

json::Value PatchOperation(const ResourceType& type) {
  json::Object content;
  content.Set("application/apply-patch+yaml", json::Object());
  content.Set("application/json-patch+json", json::Object());
  content.Set("application/merge-patch+json", json::Object());
  if (!type.custom) content.Set("application/strategic-merge-patch+json", json::Object());
  json::Object parameter{
      {"name", "fieldValidation"}, {"in", "query"}, {"schema", json::Object{{"type", "string"}}}};
  json::Object answer{{"200", json::Object{{"description", "OK"}}}};
  return json::Object{{"parameters", json::Array{std::move(parameter)}},
                      {"requestBody", json::Object{{"content", std::move(content)}}},
                      {"responses", std::move(answer)},
                      {"x-kubernetes-action", "patch"},
                      {"x-kubernetes-group-version-kind", GroupVersionKind(type)}};
}

// The schema of a custom kind, with the members that every resource has.
json::Value SchemaOf(const ResourceType& type) {
  json::Value schema = *type.schema;
  schema.Make({"properties", "apiVersion"}) = json::Object{{"type", "string"}};
  schema.Make({"properties", "kind"}) = json::Object{{"type", "string"}};
  schema.Make({"properties", "metadata"}) = json::Object{{"type", "object"}};
  schema.Make({"x-kubernetes-group-version-kind"}) = json::Array{GroupVersionKind(type)};
  return schema;
}

std::optional<json::Value> DescribeVersion(const Registry& registry, std::string_view group,
                                           std::string_view version) {
  json::Array resources;
  std::string group_version;
  for (const TypePtr& type : registry.types()) {
    if (type->group != group || type->version != version) continue;
    group_version = type->ApiVersion();
    resources.push_back(LegacyResource(*type));
    for (const Subresource& subresource : SubresourcesOf(*type)) {
      resources.push_back(LegacySubresource(*type, subresource));
    }
  }
  if (resources.empty()) return std::nullopt;
  return json::Object{{"kind", "APIResourceList"},
                      {"apiVersion", "v1"},
                      {"groupVersion", group_version},
                      {"resources", std::move(resources)}};
}

json::Value DescribeAggregated(const Registry& registry, const StaleGroups& stale, bool core) {
  json::Array items;
  if (core) items.push_back(AggregatedGroup(registry, stale, ""));
  if (!core) {
    for (const std::string& group : GroupsOf(registry, stale)) {
      items.push_back(AggregatedGroup(registry, stale, group));
    }
  }
  return json::Object{{"kind", "APIGroupDiscoveryList"},
                      {"apiVersion", "apidiscovery.k8s.io/v2"},
                      {"metadata", json::Object()},
                      {"items", std::move(items)}};
}

json::Value DescribeOpenApi(const Registry& registry) {
  json::Object paths;
  for (const TypePtr& type : registry.types()) {
    const std::string path = DocumentPath(type->group, type->version);
    paths.Set(path, json::Object{{"serverRelativeURL", "/openapi/v3/" + path + "?hash=" +
                                                           std::to_string(registry.generation())}});
  }
  return json::Object{{"paths", std::move(paths)}};
}

std::optional<json::Value> DescribeOpenApiVersion(const Registry& registry, std::string_view group,
                                                  std::string_view version) {
  // Schemas of custom kinds only: kubectl apply cannot merge by a schema without members.
  json::Object paths;
  json::Object schemas;
  bool known = false;
  for (const TypePtr& type : registry.types()) {
    if (type->group != group || type->version != version) continue;
    known = true;
    if (type->schema != nullptr)
      schemas.Set(type->ApiVersion() + "." + type->kind, SchemaOf(*type));
    if (!type->HasVerb("patch")) continue;
    const std::string root = "/" + DocumentPath(group, version);
    const std::string scope = type->namespaced ? "/namespaces/{namespace}/" : "/";
    paths.Set(root + scope + type->resource + "/{name}",
              json::Object{{"patch", PatchOperation(*type)}});
  }
  if (!known) return std::nullopt;
  return json::Object{{"openapi", "3.0.0"},
                      {"info", json::Object{{"title", "sandbox-apiserver"}, {"version", "v1"}}},
                      {"paths", std::move(paths)},
                      {"components", json::Object{{"schemas", std::move(schemas)}}}};
}

}  // namespace

std::optional<json::Value> Describe(const Registry& registry, const StaleGroups& stale,
                                    const std::vector<std::string>& path) {
  if (path.empty()) return std::nullopt;
  const std::size_t size = path.size();
  if (path[0] == "openapi" && size > 1 && path[1] == "v3") {
    if (size == 2) return DescribeOpenApi(registry);
    if (size == 4 && path[2] == "api") return DescribeOpenApiVersion(registry, "", path[3]);
    if (size == 5) return DescribeOpenApiVersion(registry, path[3], path[4]);
    return std::nullopt;
  }
  const bool core = path[0] == "api";
  if (!core && path[0] != "apis") return std::nullopt;
  if (size == 1) return DescribeAggregated(registry, stale, core);
  if (core && size == 2) return DescribeVersion(registry, "", path[1]);
  if (!core && size == 3) return DescribeVersion(registry, path[1], path[2]);
  return std::nullopt;
}

std::string EntityTag(std::string_view body) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a is enough: an ETag only distinguishes texts
  for (const char c : body) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211U;
  }
  char text[64];
  std::snprintf(text, sizeof text, "\"%016llX%08zX\"", static_cast<unsigned long long>(hash),
                body.size());
  return text;
}

}  // namespace sandbox
