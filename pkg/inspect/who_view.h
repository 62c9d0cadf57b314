#pragma once

// How `who` shows holders. Pure; any thread.

#include <string>
#include <utility>
#include <vector>

#include "pkg/inspect/holders.h"
#include "pkg/inspect/table.h"
#include "pkg/json/value.h"

namespace inspect {

// Of one name.
struct NamedHolders {
  std::string name;
  std::vector<Holder> holders;
};

struct WhoStyle {
  std::size_t most = 10;  // groups of each name; 0: all. The others become one line
  bool wide = false;      // the owners on the way, too
};

Table WhoTable(const std::vector<NamedHolders>& all, const WhoStyle& style);

// {"kind": "QuotaHolderList", "quota": …, "items": [{"resource", "holder", "amount", …}]}
json::Value WhoValue(const quota::Quota& quota, const std::vector<NamedHolders>& all);

}  // namespace inspect
