#pragma once

// The usage and limit of one name of a quota: a line of a table. Values; any thread.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/inspect/table.h"
#include "pkg/quota/quota.h"

namespace inspect {

struct UsageLine {
  std::string kind;  // "" for Kubernetes' own; "karmadaquota.policy.karmada.io"
  api::ObjectKey quota;
  std::string name;  // "requests.cpu"
  quota::Quantity hard;
  std::optional<quota::Quantity> used;  // nullopt: not counted yet
  std::string scopes;                   // "BestEffort,PriorityClass In (high,low)"; "" without
  // True if the enforced limit differs from the spec: the status lags behind.
  bool stale = false;

  // used / hard; 0 without usage, infinite above a limit of 0.
  [[nodiscard]] double Fullness() const;
  [[nodiscard]] std::optional<quota::Quantity> Free() const;  // negative above the limit
  // "compute", "karmadaquota.policy.karmada.io/business-a".
  [[nodiscard]] std::string QuotaTitle() const;
};

// A limit is nearly used up from this share on.
inline constexpr double kNearlyFull = 0.9;

// Returns a line for each limited name, enforced limits before those that are only in the spec.
std::vector<UsageLine> LinesOf(const quota::Quota& quota, std::string_view kind);

// The fullest first; equally full ones by namespace, quota and name.
void SortByFullness(std::vector<UsageLine>& lines);

std::string ScopesText(const quota::ScopeSelector& selector);

// Returns "75%", rounded down, so that only a used-up limit has 100%; "over" above a limit of 0;
// "-" if nothing is allowed nor used, or nothing was counted.
std::string PercentText(const UsageLine& line);
Tone ToneOf(const UsageLine& line);

// Returns ten cells. A limit with any usage has at least one full cell, and a limit that is not
// used up has at least one empty cell.
std::string Bar(double fullness, bool unicode);

}  // namespace inspect
