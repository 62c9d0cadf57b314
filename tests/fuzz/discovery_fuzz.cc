// Discovery documents in both forms: every group and resource has exactly one version to watch.

#include "pkg/client/discovery.h"

#include <map>
#include <set>

#include "pkg/json/value.h"
#include "tests/fuzz/target.h"

namespace {

using client::ApiResource;

void CheckPreferred(std::vector<ApiResource> resources) {
  client::MarkPreferred(resources);
  std::map<api::GroupResource, int> preferred;
  for (const ApiResource& resource : resources) {
    preferred[resource.gvr.WithoutVersion()] += resource.preferred ? 1 : 0;
    (void)resource.Has("list");
  }
  for (const auto& [resource, count] : preferred) fuzz::Require(count == 1, "one version of each");
  std::vector<ApiResource> again = resources;
  client::MarkPreferred(again);
  for (std::size_t i = 0; i < again.size(); ++i) {
    fuzz::Require(again[i].preferred == resources[i].preferred, "marked once, marked for good");
  }
}

// Duplicate entries for a version may differ.
bool ListsOnce(const json::Value& list) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  const json::Value* const items = list.At({"items"});
  if (items == nullptr || !items->IsArray()) return true;
  for (const json::Value& group : *items->AsArray()) {
    const json::Value* const versions = group.At({"versions"});
    if (versions == nullptr || !versions->IsArray()) continue;
    for (const json::Value& version : *versions->AsArray()) {
      const auto name = group.StringAt({"metadata", "name"});
      if (!seen.emplace(name, version.StringAt({"version"})).second) return false;
    }
  }
  return true;
}

void CheckFailed(const client::Discovered& found) {
  for (const client::GroupVersion& failed : found.failed) {
    for (const ApiResource& resource : found.resources) {
      // Compared apart: as one text, the version "x.io/v1" of no group is v1 of x.io.
      const client::GroupVersion of{resource.gvr.group, resource.gvr.version};
      fuzz::Require(of != failed, "unknown is not there");
    }
  }
}

FUZZ_TARGET(discovery) {
  (void)client::IsAggregated(input);
  const auto document = json::Parse(input);
  if (!document) return;
  if (auto found = client::DecodeAggregated(*document)) {
    if (ListsOnce(*document)) CheckFailed(*found);
    CheckPreferred(std::move(found->resources));
  }
  (void)client::DecodeLegacyVersions(*document);
  const client::GroupVersion apps{"apps", "v1"};
  if (auto found = client::DecodeLegacyResources(*document, apps)) {
    for (const ApiResource& resource : *found) {
      fuzz::Require(resource.gvr.resource.find('/') == std::string::npos, "no subresource");
    }
    CheckPreferred(std::move(*found));
  }
}

}  // namespace
