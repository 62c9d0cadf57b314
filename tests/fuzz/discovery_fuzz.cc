// Discovery documents in both forms: every group and resource has exactly one version to watch.

#include "pkg/client/discovery.h"

#include <map>

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

FUZZ_TARGET(discovery) {
  (void)client::IsAggregated(input);
  const auto document = json::Parse(input);
  if (!document) return;
  if (auto found = client::DecodeAggregated(*document)) {
    for (const client::GroupVersion& failed : found->failed) {
      for (const ApiResource& resource : found->resources) {
        fuzz::Require(resource.gvr.GroupVersion() != failed.ToString(), "unknown is not there");
      }
    }
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
