#include "pkg/inspect/who_view.h"

#include <algorithm>
#include <cstdio>

#include "pkg/api/time.h"
#include "pkg/inspect/output_version.h"
#include "pkg/inspect/why.h"

namespace inspect {
namespace {

std::string ShareText(double share) {
  return std::to_string(static_cast<int>(share * 100 + 1e-9)) + "%";
}

// Returns "replicaset.apps/web-1, replicaset.apps/web-2"; only a few if there are many.
std::string BelowText(const std::vector<ObjectName>& below) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < below.size() && i < kMost; ++i) {
    text.append(i == 0 ? "" : ", ").append(below[i].ToString());
  }
  if (below.size() > kMost) text.append(", … ").append(std::to_string(below.size() - kMost));
  return text.empty() ? "<none>" : text;
}

// True if the number of objects is known.
bool HasObjects(const Holder& holder) {
  return holder.sort == Holder::Sort::kGroup || holder.sort == Holder::Sort::kTerminating;
}

std::string UnusedText(const Holder& holder, const std::optional<base::WallTime>& now) {
  if (holder.sort != Holder::Sort::kGroup) return "-";
  if (!holder.unused_since) return "<unknown>";
  return now ? AgeText(*now - *holder.unused_since) : api::FormatTime(*holder.unused_since);
}

std::vector<Cell> RowOf(const std::string& name, const Holder& holder, const WhoStyle& style) {
  const Tone tone = holder.sort == Holder::Sort::kGroup ? Tone::kPlain : Tone::kFaint;
  std::vector<Cell> row{name,
                        {holder.title, tone},
                        holder.amount.ToString(),
                        ShareText(holder.share),
                        !HasObjects(holder) ? "-" : std::to_string(holder.objects)};
  if (style.unused) row.emplace_back(UnusedText(holder, style.now));
  if (style.wide) row.emplace_back(BelowText(holder.below));
  return row;
}

// Returns the first groups, the others as one line, and the special groups.
std::vector<Holder> Folded(const std::vector<Holder>& holders, std::size_t most) {
  const auto is_group = [](const Holder& holder) { return holder.sort == Holder::Sort::kGroup; };
  const auto apart = std::ranges::partition_point(holders, is_group);
  const auto groups = apart - holders.begin();
  const auto kept = most == 0 ? groups : std::min(groups, static_cast<std::ptrdiff_t>(most));
  std::vector<Holder> shown(holders.begin(), holders.begin() + kept);
  Holder others{
      .title = "<" + std::to_string(groups - kept) + " others>", .below = {}, .amount = {}};
  for (auto holder = holders.begin() + kept; holder != apart; ++holder) {
    others.amount = others.amount.Add(holder->amount);
    others.share += holder->share;
    others.objects += holder->objects;
    SetEarlier(others.unused_since, holder->unused_since);
  }
  if (groups > kept) shown.push_back(others);
  shown.insert(shown.end(), apart, holders.end());
  return shown;
}

}  // namespace

Table WhoTable(const std::vector<NamedHolders>& all, const WhoStyle& style) {
  Table table{.titles = {"RESOURCE", "HOLDER", "AMOUNT", "SHARE", "OBJECTS"}, .rows = {}};
  if (style.unused) table.titles.emplace_back("UNUSED");
  if (style.wide) table.titles.emplace_back("THROUGH");
  for (const NamedHolders& named : all) {
    for (const Holder& holder : Folded(named.holders, style.most)) {
      table.rows.push_back(RowOf(named.name, holder, style));
    }
  }
  return table;
}

json::Value WhoValue(const quota::Quota& quota, const std::vector<NamedHolders>& all) {
  json::Array items;
  for (const NamedHolders& named : all) {
    for (const Holder& holder : named.holders) {
      json::Object item{
          {"resource", named.name}, {"holder", holder.title}, {"amount", holder.amount.ToString()}};
      char share[32];
      std::snprintf(share, sizeof share, "%.4f", holder.share);
      item.Set("share", json::Number{share});
      if (HasObjects(holder)) item.Set("objects", holder.objects);
      if (holder.unused_since) item.Set("unusedSince", api::FormatTime(*holder.unused_since));
      items.emplace_back(std::move(item));
    }
  }
  return json::Object{{"apiVersion", kOutputVersion},
                      {"kind", "QuotaHolderList"},
                      {"namespace", quota.key.ns},
                      {"quota", quota.key.name},
                      {"items", std::move(items)}};
}

}  // namespace inspect
