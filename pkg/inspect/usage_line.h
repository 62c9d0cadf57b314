#pragma once

// What one quota says of one name: the line of a table. Values; any thread.

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
  std::optional<quota::Quantity> used;  // nullopt: nobody has counted it yet
  std::string scopes;                   // "BestEffort,PriorityClass In (high,low)"; "" without
  // What admission enforces is not what the owner wrote: the status lags behind the spec.
  bool stale = false;

  // used / hard; 0 where nothing is used, infinite above a limit of 0.
  [[nodiscard]] double Fullness() const;
  [[nodiscard]] std::optional<quota::Quantity> Free() const;  // negative above the limit
  // "compute", "karmadaquota.policy.karmada.io/business-a".
  [[nodiscard]] std::string QuotaTitle() const;
};

// From where on a limit counts as nearly used up.
inline constexpr double kNearlyFull = 0.9;

// A line for each name of the quota's limits, those that admission enforces before those that only
// stand in the spec so far.
std::vector<UsageLine> LinesOf(const quota::Quota& quota, std::string_view kind);

// The fullest first; equally full ones by namespace, quota and name.
void SortByFullness(std::vector<UsageLine>& lines);

std::string ScopesText(const quota::ScopeSelector& selector);

// "75%", rounded down, so that only what is used up is 100%; "over" above a limit of 0, "-" where
// neither is anything allowed nor used, or nothing was counted.
std::string PercentText(const UsageLine& line);
Tone ToneOf(const UsageLine& line);

// Ten cells; a limit that is touched has one at least, one that is not used up lacks one.
std::string Bar(double fullness, bool unicode);

}  // namespace inspect
