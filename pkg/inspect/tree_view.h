#pragma once

// How `tree` shows ClusterQuotas. Pure; any thread.

#include <optional>
#include <string>
#include <vector>

#include "pkg/inspect/forest.h"
#include "pkg/inspect/table.h"

namespace inspect {

// Which quotas of the forest are shown.
struct TreeChoice {
  std::string top;                                 // it and what is below; "": all
  std::optional<std::vector<std::string>> only{};  // no others than these
};

// A quota in the order of the tree: parents before their children, siblings by name.
struct TreeEntry {
  const quota::Quota* quota = nullptr;
  std::size_t depth = 0;   // below what is shown above it
  std::vector<bool> more;  // by depth: there is a later sibling of the quota's branch
  bool has_below = false;  // something is shown below it
};

std::vector<TreeEntry> TreeOf(const Forest& forest, const TreeChoice& choice);

struct TreeStyle {
  bool wide = false;  // scopes and the messages of conditions, too
  bool unicode = true;
};

// A line for each name that a quota limits.
Table TreeTable(const Forest& forest, const std::vector<TreeEntry>& entries,
                const TreeStyle& style);

// {"kind": "ClusterQuotaTree", "items": [{"name", "parent", "depth", "mode", "resources", …}]}
json::Value TreeValue(const Forest& forest, const std::vector<TreeEntry>& entries);

// "clusterquota.quota-controller-manager.io/team-a", one a line.
std::string TreeNames(const std::vector<TreeEntry>& entries);

}  // namespace inspect
