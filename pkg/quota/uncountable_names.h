#pragma once

// The limits that have no effect. Pure; any thread.

#include <string>
#include <vector>

#include "pkg/quota/quota.h"

namespace quota {

// The names of `hard` that this quota API never counts, whatever the server serves.
std::vector<std::string> UncountableNames(const QuotaApi& api, const ResourceList& hard);

}  // namespace quota
