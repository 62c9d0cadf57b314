#pragma once

// The part of a ClusterQuota's spec that other quotas do not have. Pure; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/json/value.h"
#include "pkg/quota/quota.h"

namespace quota {

// The fields that ParseClusterSpec() reads (dotted paths).
std::vector<std::string> ClusterSpecFields();

// "Deny", "Warn", "Audit": spec.enforcement.
std::string_view ToString(ClusterSpec::Enforcement enforcement);

// An absent namespaceSelector selects nothing, and {} all namespaces. Errors: kMalformed, naming
// the field.
base::Result<ClusterSpec> ParseClusterSpec(const json::Value& object);

}  // namespace quota
