#pragma once

// The truth about trees of ClusterQuotas, computed in the simplest way, without code of the
// product: parents, the namespaces that each quota reaches, and guarantees.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/objects.h"

namespace simulation {

using Quotas = std::map<std::pair<std::string, std::string>, StoredQuota>;

// The parent; null for a root. A quota whose parent is missing is a root, and so is each quota in a
// cycle of parents.
const StoredQuota* Above(const StoredQuota& quota, const Quotas& quotas);
std::vector<const StoredQuota*> Below(const StoredQuota& quota, const Quotas& quotas);
// For each quota: the namespaces that it, or one below it, selects.
std::map<std::pair<std::string, std::string>, std::set<std::string>> ReachesOf(
    const Quotas& quotas, const Namespaces& namespaces);
// The guarantee of the quota, without names that are not counted yet.
Amounts GuaranteedTo(const StoredQuota& quota);

}  // namespace simulation
