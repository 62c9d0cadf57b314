#pragma once

// The resources that the server serves: from aggregated discovery (v2), or from the older form if
// the server does not support it (KEP-3352; client-go v0.36.3, discovery/aggregated_discovery.go).
//
// A group version that did not answer, or that the server calls stale, is in `failed`, and its
// resources are missing from the result. Missing then means unknown, not gone. If the server itself
// does not answer, Look() is an error. Unchanged answers cost a 304.
//
// Decoding is pure (DecodeAggregated, DecodeLegacy…); Discovery sends the requests.
// Single-threaded.

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
  std::string singular;                  // "deployment"; "" if the server does not tell it
  std::vector<std::string> short_names;  // "deploy"
  bool namespaced = false;
  std::vector<std::string> verbs;
  std::vector<std::string> subresources;  // "status", "scale"
  // True for exactly one version of each group and resource: the one to watch.
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
  std::vector<ApiResource> resources;  // groups by priority, versions by preference
  std::vector<GroupVersion> failed;
};

// Discovers once, without caching. A loop should keep a Discovery.
base::Task<base::Result<Discovered>> DiscoverResources(ApiClient& client);

class Discovery {
 public:
  // The client must outlive it.
  explicit Discovery(ApiClient& client) : client_(client) {}
  // Must not be called again before it returned.
  base::Task<base::Result<Discovered>> Look();

 private:
  struct Endpoint {  // the last aggregated answer of /api or /apis
    std::string etag;
    Discovered said;
  };
  base::Task<base::Result<bool>> Ask(std::string path, Endpoint& endpoint);

  ApiClient& client_;
  Endpoint core_;
  Endpoint groups_;
  // It had the core group once, so a 404 for /api is that of a proxy. An aggregated API server
  // never has it.
  bool has_core_ = false;
};

// True for the Content-Type of an aggregated answer of a known version.
bool IsAggregated(std::string_view content_type);

// Decodes one APIGroupDiscoveryList, without `preferred`. Errors: kMalformed.
base::Result<Discovered> DecodeAggregated(const json::Value& list);

// Decodes the group versions of an APIVersions or APIGroupList, the preferred one of each group
// first.
base::Result<std::vector<GroupVersion>> DecodeLegacyVersions(const json::Value& list);
// Decodes the resources of an APIResourceList.
base::Result<std::vector<ApiResource>> DecodeLegacyResources(const json::Value& list,
                                                             const GroupVersion& of);

// Sets `preferred` on the first version of each group and resource.
void MarkPreferred(std::vector<ApiResource>& resources);

}  // namespace client
