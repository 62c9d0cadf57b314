#pragma once

// How `top` shows its lines. Pure; any thread.

#include <vector>

#include "pkg/inspect/usage_line.h"
#include "pkg/json/value.h"

namespace inspect {

struct TopStyle {
  bool namespaces = false;  // a column of them
  bool wide = false;        // scopes and state, too
  bool unicode = true;      // bars
};

Table TopTable(const std::vector<UsageLine>& lines, const TopStyle& style);

// For spreadsheets: every amount in a column of its own, as the number that it is.
Table TopSheet(const std::vector<UsageLine>& lines);

// {"kind": "QuotaUsageList", "items": [{"namespace", "quota", "resource", "used", "hard", …}]}
json::Value TopValue(const std::vector<UsageLine>& lines);

}  // namespace inspect
