#include "pkg/inspect/usage_line.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "pkg/quota/scope_field.h"

namespace inspect {
namespace {

std::string RequirementText(const quota::ScopeRequirement& requirement) {
  std::string text = requirement.scope;
  if (requirement.op != quota::ScopeOperator::kExists) {
    text.append(" ").append(quota::ToString(requirement.op));
  }
  if (requirement.values.empty()) return text;
  std::string values;
  for (const std::string& value : requirement.values) {
    values.append(values.empty() ? "" : ",").append(value);
  }
  return text.append(" (").append(values).append(")");
}

}  // namespace

double UsageLine::Fullness() const {
  if (!used || used->Sign() <= 0) return 0;
  if (hard.Sign() <= 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(used->nanos()) / static_cast<double>(hard.nanos());
}

std::optional<quota::Quantity> UsageLine::Free() const {
  if (!used) return std::nullopt;
  return hard.Sub(*used);
}

std::string UsageLine::QuotaTitle() const {
  return kind.empty() ? quota.name : kind + "/" + quota.name;
}

std::string ScopesText(const quota::ScopeSelector& selector) {
  std::string text;
  for (const auto& requirement : selector) {
    text.append(text.empty() ? "" : ",").append(RequirementText(requirement));
  }
  return text;
}

std::vector<UsageLine> LinesOf(const quota::Quota& quota, std::string_view kind) {
  std::vector<UsageLine> lines;
  const std::string scopes = ScopesText(quota.selector);
  const auto add = [&](const std::string& name, const quota::Quantity& hard, bool stale) {
    const quota::Quantity* used = quota.status.used.Find(name);
    lines.push_back({.kind = std::string(kind),
                     .quota = quota.key,
                     .name = name,
                     .hard = hard,
                     .used = used == nullptr ? std::nullopt : std::optional(*used),
                     .scopes = scopes,
                     .stale = stale});
  };
  for (const auto& [name, hard] : quota.status.hard) {
    const quota::Quantity* wanted = quota.hard.Find(name);
    add(name, hard, wanted == nullptr || *wanted != hard);
  }
  for (const auto& [name, hard] : quota.hard) {
    if (quota.status.hard.Find(name) == nullptr) add(name, hard, true);
  }
  return lines;
}

void SortByFullness(std::vector<UsageLine>& lines) {
  const auto rank = [](const UsageLine& line) {
    return std::tuple(-line.Fullness(), std::tie(line.quota, line.kind, line.name));
  };
  std::ranges::sort(lines, [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

std::string PercentText(const UsageLine& line) {
  const double fullness = line.Fullness();
  if (std::isinf(fullness)) return "over";
  if (!line.used || line.hard.Sign() <= 0) return "-";
  // 1e-9 makes up for rounding: 0.29 * 100 is 28.999….
  constexpr double kMost = 99'999;
  return std::to_string(static_cast<long>(std::min(fullness * 100 + 1e-9, kMost))) + "%";
}

Tone ToneOf(const UsageLine& line) {
  const double fullness = line.Fullness();
  if (fullness >= 1) return Tone::kFull;
  if (fullness >= kNearlyFull) return Tone::kNear;
  return line.used ? Tone::kGood : Tone::kFaint;
}

std::string Bar(double fullness, bool unicode) {
  constexpr int kCells = 10;
  int full = static_cast<int>(std::min(fullness, 1.0) * kCells);
  if (fullness > 0 && full == 0) full = 1;
  std::string bar;
  for (int i = 0; i < kCells; ++i) {
    if (unicode) {
      bar.append(i < full ? "█" : "░");
    } else {
      bar.append(i < full ? "#" : ".");
    }
  }
  return bar;
}

}  // namespace inspect
