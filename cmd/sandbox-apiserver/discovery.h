#pragma once

// Discovery documents of what a registry serves (KEP-3352; apiserver v0.36.3,
// pkg/endpoints/discovery), in the legacy and in the aggregated form, and small OpenAPI v3
// documents, which kubectl needs to validate and to patch. Pure; any thread.

#include <optional>
#include <string>
#include <string_view>

#include "cmd/sandbox-apiserver/faults.h"
#include "cmd/sandbox-apiserver/registry.h"
#include "pkg/json/value.h"

namespace sandbox {

// GET /api. `server_address` is "host:port".
json::Value DescribeCoreVersions(std::string_view server_address);
// GET /apis.
json::Value DescribeGroups(const Registry& registry, const StaleGroups& stale);
// GET /apis/<group>; nullopt: no such group.
std::optional<json::Value> DescribeGroup(const Registry& registry, const StaleGroups& stale,
                                         std::string_view group);
// GET /api/v1 and /apis/<group>/<version>; nullopt: no such version.
std::optional<json::Value> DescribeVersion(const Registry& registry, std::string_view group,
                                           std::string_view version);

// GET /api (core) or /apis with the Accept of aggregated discovery.
json::Value DescribeAggregated(const Registry& registry, const StaleGroups& stale, bool core);
inline constexpr std::string_view kAggregatedContentType =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

// Returns the ETag of a body: a quoted hash.
std::string EntityTag(std::string_view body);

// GET /openapi/v3: the list of documents.
json::Value DescribeOpenApi(const Registry& registry);
// GET /openapi/v3/api/v1 and /openapi/v3/apis/<group>/<version>.
std::optional<json::Value> DescribeOpenApiVersion(const Registry& registry, std::string_view group,
                                                  std::string_view version);

}  // namespace sandbox
