#pragma once

// The limits and scopes that have no effect. Pure; any thread.

#include <string>
#include <vector>

#include "pkg/quota/quota.h"

namespace quota {

// The names of `hard` that this quota API never counts, whatever the server serves.
std::vector<std::string> UncountableNames(const QuotaApi& api, const ResourceList& hard);

// Of these, the names that a UsageDefinition may explain.
std::vector<std::string> UndefinedNames(const QuotaApi& api, const ResourceList& hard);

// The scopes of the selector that a UsageDefinition may explain, and no evaluator has.
std::vector<std::string> UndefinedScopes(const QuotaApi& api, const ScopeSelector& selector);

}  // namespace quota
