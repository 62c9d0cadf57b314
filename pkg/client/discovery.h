#pragma once

// What the server serves: aggregated discovery (v2), or the older form where that is not spoken
// (KEP-3352; client-go v0.36.3, discovery/aggregated_discovery.go).
//
// A group version that could not be asked, or that the server calls stale, is named in `failed` and
// its resources are absent from the result: absent there means unknown, not gone. If the server
// itself cannot be asked the whole look is an error. Unchanged answers cost a 304.
//
// Decoding is pure (DecodeAggregated, DecodeLegacy…); Discovery does the asking. Single-threaded.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/api/resource.h"
#include "pkg/base/asio.h"
#include "pkg/base/error.h"
#include "pkg/client/api_client.h"
#include "pkg/json/value.h"

namespace client {

struct ApiResource {
  api::GroupVersionResource gvr;
  std::string kind;
  bool namespaced = false;
  std::vector<std::string> verbs;
  std::vector<std::string> subresources;  // "status", "scale"
  // The one version to watch of this group and resource: true for exactly one of them.
  bool preferred = false;
  [[nodiscard]] bool Has(std::string_view verb) const;
};

struct GroupVersion {
  std::string group;
  std::string version;
  auto operator<=>(const GroupVersion&) const = default;
  [[nodiscard]] std::string ToString() const;  // "v1", "apps/v1"
};

struct Discovered {
  std::vector<ApiResource> resources;  // groups in order of priority, versions of preference
  std::vector<GroupVersion> failed;
};

// Asks anew, without memory. For one look; a loop keeps a Discovery.
base::Task<base::Result<Discovered>> DiscoverResources(ApiClient& client);

class Discovery {
 public:
  // The client outlives it.
  explicit Discovery(ApiClient& client) : client_(client) {}
  // Not to be called again before it returned.
  base::Task<base::Result<Discovered>> Look();

 private:
  struct Endpoint {  // what /api or /apis last said in aggregated form
    std::string etag;
    Discovered said;
  };
  base::Task<base::Result<bool>> Ask(std::string path, Endpoint& endpoint);

  ApiClient& client_;
  Endpoint core_;
  Endpoint groups_;
};

// True if a Content-Type is that of an aggregated answer we understand.
bool IsAggregated(std::string_view content_type);

// One APIGroupDiscoveryList, without `preferred`. Errors: kMalformed.
base::Result<Discovered> DecodeAggregated(const json::Value& list);

// The group versions of an APIVersions or APIGroupList, the preferred one of each group first.
base::Result<std::vector<GroupVersion>> DecodeLegacyVersions(const json::Value& list);
// The resources of an APIResourceList.
base::Result<std::vector<ApiResource>> DecodeLegacyResources(const json::Value& list,
                                                             const GroupVersion& of);

// Sets `preferred` on the first version of each group and resource.
void MarkPreferred(std::vector<ApiResource>& resources);

}  // namespace client
