#pragma once

// Rules that several quota APIs share. Each call of a webhook decides for all quota APIs
// (pkg/admission/quota_admitter.h), so those that ask the same of a resource need one stored rule
// and one call. No I/O; any thread.

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/webhook/webhook_configuration.h"

namespace webhook {

// The name of quota APIs that share a webhook, for its path: "cluster.core". The names must have no
// dot. A path of a Service may have nothing but letters, digits, '-' and '.' between slashes.
std::string Together(const std::set<std::string>& quota_apis);
// The quota APIs of such a name.
std::vector<std::string> QuotaApisIn(std::string_view together);

// True if the stored rule asks for what the wanted one does, wherever: it asks the same of the same
// resource, or about every update in place of those with a condition.
bool AsksFor(const GuardedResource& stored, const GuardedResource& wanted);

// Returns these rules as they shall be stored: those that ask the same as one rule, or each by
// itself if that one would name too many namespaces.
std::vector<GuardedResource> Shared(const std::vector<GuardedResource>& rules);

}  // namespace webhook
