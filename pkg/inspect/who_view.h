#pragma once

// The output of `kubectl quota who`. Pure; any thread.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/base/clock.h"
#include "pkg/inspect/holders.h"
#include "pkg/inspect/table.h"
#include "pkg/json/value.h"

namespace inspect {

// The holders of one name.
struct NamedHolders {
  std::string name;
  std::vector<Holder> holders;
};

struct WhoStyle {
  std::size_t most = 10;  // groups of each name; 0: all. The others become one line
  bool wide = false;      // with the owners in between
  bool unused = false;    // with the time for which they are unused
  // The time until which they are unused; nullopt: the time since then is shown as RFC 3339.
  std::optional<base::WallTime> now = {};
};

Table WhoTable(const std::vector<NamedHolders>& all, const WhoStyle& style);

// {"apiVersion": …, "kind": "QuotaHolderList", "quota": …, "items": [{"resource", …}]}
json::Value WhoValue(const quota::Quota& quota, const std::vector<NamedHolders>& all);

}  // namespace inspect
