#pragma once

// What is true of trees of ClusterQuotas, done in the plainest way, apart from the product's: which
// quota is above which, what each reaches, and what is guaranteed.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/objects.h"

namespace simulation {

using Quotas = std::map<std::pair<std::string, std::string>, StoredQuota>;

// Null: it is a root. So is a quota whose parent is missing, and each one in a cycle of parents.
const StoredQuota* Above(const StoredQuota& quota, const Quotas& quotas);
std::vector<const StoredQuota*> Below(const StoredQuota& quota, const Quotas& quotas);
// The namespaces that the quota, or one below it, selects.
std::set<std::string> ReachOf(const StoredQuota& quota, const Quotas& quotas,
                              const Namespaces& namespaces);
// What the quota is guaranteed: nothing that is not counted yet.
Amounts GuaranteedTo(const StoredQuota& quota);

}  // namespace simulation
