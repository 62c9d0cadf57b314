#pragma once

// The names that limit a number of objects: count/<resource>.<group>, or count/<resource> for the
// core group (apiserver v0.36.3, pkg/quota/v1/generic/evaluator.go,
// ObjectCountQuotaResourceNameFor). Pure functions; any thread.

#include <optional>
#include <string>
#include <string_view>

#include "pkg/api/resource.h"

namespace quota {

inline constexpr std::string_view kCountPrefix = "count/";

// "count/pods", "count/deployments.apps".
std::string CountName(const api::GroupResource& resource);

// The inverse; nullopt if it is not such a name ("pods", "count/", "count/pods.").
std::optional<api::GroupResource> ParseCountName(std::string_view name);

}  // namespace quota
