#pragma once

// The output of `kubectl quota top`. Pure; any thread.

#include <vector>

#include "pkg/inspect/usage_line.h"
#include "pkg/json/value.h"

namespace inspect {

struct TopStyle {
  bool namespaces = false;  // with a column of namespaces
  bool wide = false;        // with scopes and state
  bool unicode = true;      // bars
};

Table TopTable(const std::vector<UsageLine>& lines, const TopStyle& style);

// Returns a table for spreadsheets: every amount in its own column as a plain number.
Table TopSheet(const std::vector<UsageLine>& lines);

// {"apiVersion": …, "kind": "QuotaUsageList", "items": [{"namespace", "quota", "resource", …}]}
json::Value TopValue(const std::vector<UsageLine>& lines);

}  // namespace inspect
