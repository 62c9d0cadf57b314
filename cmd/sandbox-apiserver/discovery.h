#pragma once

// Discovery documents of what a registry serves (KEP-3352; apiserver v0.36.3,
// pkg/endpoints/discovery): all groups in the aggregated form, one version in the legacy form, and
// small OpenAPI v3 documents, which kubectl needs to validate and to patch. Pure; any thread.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/sandbox-apiserver/faults.h"
#include "cmd/sandbox-apiserver/registry.h"
#include "pkg/json/value.h"

namespace sandbox {

// The Content-Type of /api and /apis, which have the aggregated form, whatever the client accepts.
inline constexpr std::string_view kAggregatedContentType =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

// The document at the path: /api, /apis, a version below them, or below /openapi/v3; nullopt if
// there is none.
std::optional<json::Value> Describe(const Registry& registry, const StaleGroups& stale,
                                    const std::vector<std::string>& path);

// Returns the ETag of a body: a quoted hash.
std::string EntityTag(std::string_view body);

}  // namespace sandbox
