#pragma once

// The output of `kubectl quota tree`. Pure; any thread.

#include <optional>
#include <string>
#include <vector>

#include "pkg/inspect/forest.h"
#include "pkg/inspect/table.h"

namespace inspect {

// Selects the quotas to show.
struct TreeChoice {
  std::string top;                                 // this quota and its descendants; "": all
  std::optional<std::vector<std::string>> only{};  // only quotas with these names
};

// A quota in the order of the tree: parents before their children, siblings by name.
struct TreeEntry {
  const quota::Quota* quota = nullptr;
  std::size_t depth = 0;   // counted from the top quota that is shown
  std::vector<bool> more;  // by depth: a later sibling follows on that level
  bool has_below = false;  // some of its children are shown
};

std::vector<TreeEntry> TreeOf(const Forest& forest, const TreeChoice& choice);

struct TreeStyle {
  bool wide = false;  // with scopes and messages of conditions
  bool unicode = true;
};

// Returns a table with a row for each limited name.
Table TreeTable(const Forest& forest, const std::vector<TreeEntry>& entries,
                const TreeStyle& style);

// {"apiVersion": …, "kind": "ClusterQuotaTree", "items": [{"name", "parent", "depth", …}]}
json::Value TreeValue(const Forest& forest, const std::vector<TreeEntry>& entries);

// "clusterquota.quota-controller-manager.io/team-a", one a line.
std::string TreeNames(const std::vector<TreeEntry>& entries);

}  // namespace inspect
