#pragma once

// Computes Standing::tree from a tree of quotas. Pure functions; any thread that may read the tree.

#include <functional>
#include <string_view>
#include <vector>

#include "pkg/quota/cluster/quota_tree.h"
#include "pkg/quota/decision.h"

namespace quota {

// Returns Promised() of a quota; empty if the quota is unknown.
using PromisedTo = std::function<ResourceList(std::string_view quota)>;

// Returns a place for each quota of `reach` (QuotaTree::QuotasOf(), WayUp()), in the same order.
// `parent` is an index into `reach`. Costs the number of their children.
std::vector<TreePlace> PlacesOf(const QuotaTree& tree, const QuotaTree::Reach& reach,
                                const PromisedTo& promised);

}  // namespace quota
