#pragma once

// The part of a ClusterQuota's spec that other quotas do not have. Pure; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "pkg/json/value.h"
#include "pkg/quota/quota.h"

namespace quota {

// The fields that ParseClusterSpec() reads (dotted paths).
std::vector<std::string> ClusterSpecFields();

// "Deny", "Warn", "Audit": spec.enforcement.
std::string_view ToString(ClusterSpec::Enforcement enforcement);

// An absent namespaceSelector selects nothing, and {} all namespaces. A part that cannot be read
// has its default (no selector, no parent, no guarantee, mode Deny). The first such part is noted
// in `unreadable`, with its field, unless it notes something already. A selector that cannot be
// read selects nothing, because any guess would limit the namespaces of others.
ClusterSpec ParseClusterSpec(const json::Value& object, std::string& unreadable);

}  // namespace quota
