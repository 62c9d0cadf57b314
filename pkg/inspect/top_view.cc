#include "pkg/inspect/top_view.h"

#include <cmath>
#include <cstdio>
#include <string>

#include "pkg/inspect/output_version.h"

namespace inspect {
namespace {

std::string AmountText(const std::optional<quota::Quantity>& amount) {
  return amount ? amount->ToString() : "-";
}

std::string StateText(const UsageLine& line) {
  if (!line.used) return "not counted yet";
  return line.stale ? "limit not in force yet" : "";
}

// Returns a number without a unit, for spreadsheets: "0.5", "1073741824".
std::string PlainNumber(const quota::Quantity& amount) {
  const bool negative = amount.nanos() < 0;
  quantity::Int128 rest = negative ? -amount.nanos() : amount.nanos();
  std::string digits;  // in reverse order
  for (; rest > 0 || digits.size() < 11; rest /= 10) {
    digits += static_cast<char>('0' + static_cast<int>(rest % 10));
    if (digits.size() == 9) digits += '.';
  }
  std::string number(digits.rbegin(), digits.rend());
  number.erase(number.find_last_not_of('0') + 1);
  if (number.ends_with('.')) number.pop_back();
  return negative ? "-" + number : number;
}

std::string RatioText(const UsageLine& line) {
  const double fullness = line.Fullness();
  if (!line.used || std::isinf(fullness)) return "";
  char text[32];
  std::snprintf(text, sizeof text, "%.4f", fullness);
  return text;
}

}  // namespace

Table TopTable(const std::vector<UsageLine>& lines, const TopStyle& style) {
  Table table{.titles = {"QUOTA", "RESOURCE", "USED/HARD", "USED%", "FREE", "FULL"}, .rows = {}};
  if (style.namespaces) table.titles.insert(table.titles.begin(), "NAMESPACE");
  if (style.wide) table.titles.insert(table.titles.end(), {"SCOPES", "STATE"});
  for (const UsageLine& line : lines) {
    const Tone tone = ToneOf(line);
    std::vector<Cell> row{line.QuotaTitle(),
                          line.name,
                          AmountText(line.used) + "/" + line.hard.ToString(),
                          {PercentText(line), tone},
                          AmountText(line.Free()),
                          {Bar(line.Fullness(), style.unicode), tone}};
    if (style.namespaces) row.insert(row.begin(), line.quota.ns);
    if (style.wide) {
      row.emplace_back(line.scopes.empty() ? "<none>" : line.scopes);
      row.emplace_back(StateText(line), Tone::kFaint);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table TopSheet(const std::vector<UsageLine>& lines) {
  Table table{.titles = {"namespace", "quota", "resource", "used", "hard", "free", "ratio"},
              .rows = {}};
  for (const UsageLine& line : lines) {
    const auto free = line.Free();
    table.rows.push_back({line.quota.ns, line.QuotaTitle(), line.name,
                          line.used ? PlainNumber(*line.used) : "", PlainNumber(line.hard),
                          free ? PlainNumber(*free) : "", RatioText(line)});
  }
  return table;
}

json::Value TopValue(const std::vector<UsageLine>& lines) {
  json::Array items;
  for (const UsageLine& line : lines) {
    json::Object item{{"namespace", line.quota.ns},
                      {"quota", line.QuotaTitle()},
                      {"resource", line.name},
                      {"hard", line.hard.ToString()}};
    if (line.used) item.Set("used", line.used->ToString());
    if (const auto free = line.Free()) item.Set("free", free->ToString());
    const std::string ratio = RatioText(line);
    if (!ratio.empty()) item.Set("ratio", json::Number{ratio});
    if (!line.scopes.empty()) item.Set("scopes", line.scopes);
    if (line.stale) item.Set("stale", true);
    items.emplace_back(std::move(item));
  }
  return json::Object{
      {"apiVersion", kOutputVersion}, {"kind", "QuotaUsageList"}, {"items", std::move(items)}};
}

}  // namespace inspect
