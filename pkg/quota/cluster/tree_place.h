#pragma once

// From a tree of quotas to the places of Standing. Pure functions; any thread that may read the
// tree.

#include <functional>
#include <string_view>
#include <vector>

#include "pkg/quota/cluster/quota_tree.h"
#include "pkg/quota/decision.h"

namespace quota {

// Promised() of a quota; empty for one that is not known.
using PromisedTo = std::function<ResourceList(std::string_view quota)>;

// One for each quota of `reach` (QuotaTree::QuotasOf(), WayUp()), in its order: `parent` is an
// index there. Costs the number of their children.
std::vector<TreePlace> PlacesOf(const QuotaTree& tree, const QuotaTree::Reach& reach,
                                const PromisedTo& promised);

}  // namespace quota
