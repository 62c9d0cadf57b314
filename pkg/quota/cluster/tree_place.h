#pragma once

// Computes Standing::tree from a tree of quotas. Pure functions; any thread that may read the tree.

#include <vector>

#include "pkg/quota/cluster/quota_tree.h"
#include "pkg/quota/decision.h"

namespace quota {

// Returns a place for each quota of `reach` (QuotaTree::QuotasOf(), WayUp()), in the same order.
// `parent` is an index into `reach`. The promises are those of QuotaTree::SetPromised(). Costs the
// length of `reach`.
std::vector<TreePlace> PlacesOf(const QuotaTree& tree, const QuotaTree::Reach& reach);

}  // namespace quota
