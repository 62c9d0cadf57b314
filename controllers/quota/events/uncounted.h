#pragma once

// Names of a quota whose kind the daemon may not list, or that cannot be counted for another
// reason, in words for users. Pure functions; any thread.

#include <string>
#include <vector>

#include "controllers/usage/tracker.h"
#include "pkg/api/resource.h"
#include "pkg/quota/decision.h"

namespace controllers {

// Names of the source that are not in force: the daemon lacks the right to list their kind, and
// never had it while the quota had the name. The record of that is `used`: it keeps the last count
// of a name. So a right that is taken away later ends no limit.
std::vector<std::string> HeldOut(const UsageSource& source, const quota::ResourceList& used);

// Returns which value of the chart, or which manifest, lets the daemon list the resource: "set
// rbac.countSecrets=true in the Helm values, or …".
std::string HowToAllow(const api::GroupResource& resource);

// What a refusal says about those of these names that the sources do not count now.
quota::Uncounted WhyUncounted(const std::vector<UsageSource>& sources,
                              const std::vector<std::string>& names);

}  // namespace controllers
