#include "pkg/inspect/page.h"

#include <algorithm>
#include <map>
#include <set>

#include "pkg/api/time.h"
#include "pkg/inspect/page_style.h"

namespace inspect {
namespace {

// So many namespaces at most are shown unfolded.
constexpr std::size_t kUnfolded = 1;

std::string Html(std::string_view text) {
  std::string safe;
  for (const char c : Harmless(text)) {
    if (c == '&') {
      safe += "&amp;";
    } else if (c == '<') {
      safe += "&lt;";
    } else if (c == '"') {
      safe += "&quot;";
    } else {
      safe += c;
    }
  }
  return safe;
}

const char* ToneClass(const UsageLine& line) {
  switch (ToneOf(line)) {
    case Tone::kFull:
      return "f";
    case Tone::kNear:
      return "w";
    default:
      return "g";
  }
}

std::string BarHtml(const UsageLine& line) {
  const int percent = static_cast<int>(std::min(line.Fullness(), 1.0) * 100);
  return std::string("<i class=") + ToneClass(line) + " style=--p:" + std::to_string(percent) +
         "%></i>";
}

std::string AmountHtml(const std::optional<quota::Quantity>& amount) {
  return amount ? amount->ToString() : "-";
}

// End tags and classes that can be left out are: a page of 5 000 namespaces has 30 000 rows.
std::string LineRow(const UsageLine& line, bool with_namespace) {
  std::string row = "<tr><td>";
  if (with_namespace) row += Html(line.quota.ns) + "<td>";
  row += Html(line.QuotaTitle()) + "<td>" + Html(line.name) + "<td>" + AmountHtml(line.used) +
         "<td>" + line.hard.ToString() + "<td>" + PercentText(line) + "<td>" + BarHtml(line) +
         "<td>" + AmountHtml(line.Free());
  return row + "\n";
}

std::string LineTable(const std::vector<const UsageLine*>& lines, bool with_namespace) {
  std::string table = "<table class=l><thead><tr>";
  if (with_namespace) table += "<th>Namespace";
  table += "<th>Quota<th>Resource<th>Used<th>Hard<th>Used %<th>Full<th>Free<tbody>\n";
  for (const UsageLine* line : lines) table += LineRow(*line, with_namespace);
  return table + "</table>\n";
}

std::string Card(std::size_t number, const std::string& what) {
  return "<div><b>" + std::to_string(number) + "</b>" + what + "</div>\n";
}

template <typename Wanted>
std::vector<const UsageLine*> Choose(const std::vector<UsageLine>& lines, Wanted wanted) {
  std::vector<const UsageLine*> chosen;
  for (const UsageLine& line : lines) {
    if (wanted(line)) chosen.push_back(&line);
  }
  return chosen;
}

std::string Cards(const Page& page) {
  std::set<std::string> namespaces;
  std::set<std::string> quotas;
  std::size_t full = 0;
  std::size_t near = 0;
  for (const UsageLine& line : page.lines) {
    namespaces.insert(line.quota.ns);
    quotas.insert(line.quota.ns + "/" + line.QuotaTitle());
    full += line.Fullness() >= 1 ? 1 : 0;
    near += line.Fullness() >= kNearlyFull && line.Fullness() < 1 ? 1 : 0;
  }
  return "<div class=cards>\n" + Card(namespaces.size(), "namespaces") +
         Card(quotas.size(), "quotas") + Card(full, "limits used up") +
         Card(near, "limits nearly used up") + "</div>\n";
}

std::string Section(const std::string& title, const std::string& about,
                    const std::vector<const UsageLine*>& lines) {
  if (lines.empty()) return "";
  // Of very many the fullest say enough; all of them are below.
  constexpr std::size_t kMost = 200;
  const std::size_t shown = std::min(lines.size(), kMost);
  std::string more;
  if (shown < lines.size()) more = " The first " + std::to_string(shown) + " are shown.";
  return "<h2>" + title + "</h2>\n<p>" + about + more + "</p>\n" +
         LineTable({lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(shown)}, true);
}

std::string HoldersSection(const Page& page) {
  std::string text;
  for (const PageHolders& named : page.holders) {
    if (named.holders.empty()) continue;
    text += "<h2>Who uses most " + Html(named.name) +
            "</h2>\n<table><thead><tr><th>Holder<th class=n>Amount<th class=n>Share<th "
            "class=n>Objects<tbody>\n";
    for (const Holder& holder : named.holders) {
      text += "<tr><td>" + Html(holder.title) + "<td class=n>" + holder.amount.ToString() +
              "<td class=n>" + std::to_string(static_cast<int>(holder.share * 100 + 1e-9)) +
              "%<td class=n>" + std::to_string(holder.objects) + "\n";
    }
    text += "</table>\n";
  }
  return text;
}

// One fold a namespace, with its fullest line.
std::string Folds(const std::map<std::string, std::vector<const UsageLine*>>& spaces) {
  std::vector<const std::pair<const std::string, std::vector<const UsageLine*>>*> order;
  for (const auto& space : spaces) order.push_back(&space);
  std::ranges::stable_sort(order, std::greater(),
                           [](const auto* space) { return space->second.front()->Fullness(); });
  std::string text = "<input type=search placeholder=\"Find a namespace\">\n";
  for (const auto* space : order) {
    const UsageLine& fullest = *space->second.front();
    text += "<details data-n=\"" + Html(space->first) + "\"><summary><span>" + Html(space->first) +
            "</span>" + BarHtml(fullest) + "<b class=" + ToneClass(fullest) + ">" +
            PercentText(fullest) + "</b></summary>" + LineTable(space->second, false) +
            "</details>\n";
  }
  return text;
}

std::string AllLines(const Page& page) {
  std::map<std::string, std::vector<const UsageLine*>> spaces;
  for (const UsageLine& line : page.lines) spaces[line.quota.ns].push_back(&line);
  if (spaces.empty()) return "<p>No quotas.</p>\n";
  const std::string head = "<h2>All limits</h2>\n";
  if (spaces.size() <= kUnfolded) return head + LineTable(spaces.begin()->second, false);
  return head + Folds(spaces);
}

std::string Notes(const Page& page) {
  std::string text;
  for (const std::string& note : page.notes) text += "<p>" + Html(note) + "</p>\n";
  return text;
}

}  // namespace

std::string PageHtml(const Page& page) {
  const auto full = [](const UsageLine& line) { return line.Fullness() >= kNearlyFull; };
  const auto stale = [](const UsageLine& line) { return line.stale || !line.used; };
  std::string text =
      "<!doctype html>\n<html lang=en><meta charset=utf-8>\n"
      "<meta name=viewport content=\"width=device-width,initial-scale=1\">\n<title>Quotas of ";
  text.append(Html(page.title)).append("</title>\n<style>").append(kPageStyle).append("</style>\n");
  text += "<h1>Quotas of " + Html(page.title) + "</h1>\n<p>" + Html(page.source) + ", " +
          api::FormatTime(page.made) + "</p>\n" + Notes(page) + Cards(page);
  text += Section("Used up, or nearly", "Limits that are used by nine tenths or more.",
                  Choose(page.lines, full));
  text += Section("Not in force",
                  "Limits that were changed and are not in force yet, or that nobody "
                  "has counted.",
                  Choose(page.lines, stale));
  text += HoldersSection(page) + AllLines(page);
  return text.append("<script>").append(kPageScript).append("</script>\n");
}

}  // namespace inspect
