#include "pkg/inspect/page.h"

#include <algorithm>
#include <map>
#include <set>

#include "pkg/api/time.h"
#include "pkg/inspect/counted.h"
#include "pkg/inspect/foreign_text.h"
#include "pkg/inspect/page_style.h"

namespace inspect {
namespace {

// The most quotas of one namespace that are shown unfolded.
constexpr std::size_t kUnfoldedQuotas = 20;
// Bounds the folded part. The rest is bounded by its number of rows, so the page stays below 5 MB.
constexpr std::size_t kMostBytes = 4'500'000;
// The title of the fold for quotas without a namespace.
const std::string kOverMany = "<ClusterQuotas>";

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

// Returns the attributes of a bar.
std::string BarAttributes(const UsageLine& line) {
  const int percent = static_cast<int>(std::min(line.Fullness(), 1.0) * 100);
  return std::string(" class=") + ToneClass(line) + " style=--p:" + std::to_string(percent) + "%";
}

// Returns a name that narrow screens may break after dots and slashes.
std::string NameHtml(std::string_view name) {
  std::string html;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find_first_of("./"), name.size() - 1) + 1;
    html += Html(name.substr(0, end));
    name.remove_prefix(end);
    if (!name.empty()) html += "<wbr>";
  }
  return html;
}

std::string AmountHtml(const std::optional<quota::Quantity>& amount) {
  return amount ? amount->ToString() : "-";
}

// Optional end tags and classes are omitted: a page of 5 000 namespaces has 30 000 rows.
std::string LineRow(const UsageLine& line, bool with_namespace) {
  std::string row = "<tr><td>";
  if (with_namespace) row += Html(line.quota.ns) + "<td>";
  row += Html(line.QuotaTitle()) + "<td>" + NameHtml(line.name) + "<td>" + AmountHtml(line.used) +
         "<td>" + line.hard.ToString() + "<td>" + PercentText(line) + "<td" + BarAttributes(line) +
         "><td>" + AmountHtml(line.Free());
  return row + "\n";
}

std::string LineTable(const std::vector<const UsageLine*>& lines, bool with_namespace) {
  std::string table = "<table class=l><thead><tr>";
  if (with_namespace) table += "<th>Namespace";
  table += "<th>Quota<th>Resource<th>Used<th>Hard<th>Used %<th>Full<th>Free<tbody>\n";
  for (const UsageLine* line : lines) table += LineRow(*line, with_namespace);
  return table + "</table>\n";
}

std::string Card(std::size_t number, std::string_view what, std::string_view state = "") {
  return ("<div><b>" + std::to_string(number) + "</b>" +
          Plural(static_cast<std::int64_t>(number), what))
      .append(state)
      .append("</div>\n");
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
    if (!line.quota.ns.empty()) namespaces.insert(line.quota.ns);
    quotas.insert(line.quota.ns + "/" + line.QuotaTitle());
    full += line.Fullness() >= 1 ? 1 : 0;
    near += line.Fullness() >= kNearlyFull && line.Fullness() < 1 ? 1 : 0;
  }
  return "<div class=cards>\n" + Card(namespaces.size(), "namespace") +
         Card(quotas.size(), "quota") + Card(full, "limit", " used up") +
         Card(near, "limit", " nearly used up") + "</div>\n";
}

// Returns the first rows, and a fold with more. If there are very many, only the fullest are in the
// fold; all of them are listed further below.
std::string Section(const std::string& title, const std::string& about,
                    const std::vector<const UsageLine*>& lines) {
  constexpr std::ptrdiff_t kUnfoldedRows = 20;
  constexpr std::ptrdiff_t kMostRows = 200;
  if (lines.empty()) return "";
  const auto count = static_cast<std::ptrdiff_t>(lines.size());
  const auto unfolded = lines.begin() + std::min(count, kUnfoldedRows);
  const auto shown = lines.begin() + std::min(count, kMostRows);
  std::string text =
      "<h2>" + title + "</h2>\n<p>" + about + "</p>\n" + LineTable({lines.begin(), unfolded}, true);
  if (unfolded == lines.end()) return text;
  text += "<details><summary><span>" + std::to_string(lines.end() - unfolded) + " more";
  if (shown != lines.end()) text += ", the first " + std::to_string(shown - unfolded) + " of them";
  return text + "</span></summary>" + LineTable({unfolded, shown}, true) + "</details>\n";
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

// The lines of a namespace or of a quota, which are folded together. Fullest first.
struct Fold {
  std::string title;
  std::vector<const UsageLine*> lines;
};

template <typename TitleOf>
std::vector<Fold> FoldsBy(const Page& page, TitleOf title_of) {
  std::map<std::string, Fold> by_title;
  for (const UsageLine& line : page.lines) {
    Fold& fold = by_title[title_of(line)];
    fold.title = title_of(line);
    fold.lines.push_back(&line);
  }
  std::vector<Fold> folds;
  folds.reserve(by_title.size());
  for (auto& [title, fold] : by_title) folds.push_back(std::move(fold));
  std::ranges::stable_sort(folds, std::greater(),
                           [](const Fold& fold) { return fold.lines.front()->Fullness(); });
  return folds;
}

// A fold's head: its title and its fullest line.
std::string HeadOf(const Fold& fold) {
  const UsageLine& fullest = *fold.lines.front();
  return "<details data-n=\"" + Html(fold.title) + "\"><summary><span>" + Html(fold.title) +
         "</span><i" + BarAttributes(fullest) + "></i><b class=" + ToneClass(fullest) + ">" +
         PercentText(fullest) + "</b></summary>";
}

// Returns the heads of all folds, and tables of the first (fullest) ones while there is room.
std::string FoldsHtml(const std::vector<Fold>& folds, const std::string& what) {
  constexpr const char* kEnd = "</details>\n";
  std::string text = "<input type=search placeholder=\"Find a " + what + "\">\n";
  std::vector<std::string> heads;
  std::size_t size = text.size();
  for (const Fold& fold : folds) {
    std::string head = HeadOf(fold);
    if (size + head.size() > kMostBytes) break;
    size += head.size() + std::string_view(kEnd).size();
    heads.push_back(std::move(head));
  }
  std::size_t bare = 0;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const std::string table = bare == 0 ? LineTable(folds[i].lines, false) : "";
    if (bare > 0 || size + table.size() > kMostBytes) {
      ++bare;
      text += heads[i] + kEnd;
      continue;
    }
    size += table.size();
    text += heads[i] + table + kEnd;
  }
  const std::size_t absent = folds.size() - heads.size();
  if (bare > 0) {
    text += "<p>For the page to stay small, the last " + std::to_string(bare) +
            (bare == 1 ? " shows its" : " show their") + " fullest limit only.</p>\n";
  }
  if (absent > 0) {
    text += "<p>" + std::to_string(absent) + " more " + (absent == 1 ? "is" : "are") +
            " less full.</p>\n";
  }
  return text;
}

std::string AllLines(const Page& page) {
  if (page.lines.empty()) return "<p>No quotas.</p>\n";
  const std::string head = "<h2>All limits</h2>\n";
  const auto spaces = FoldsBy(page, [](const UsageLine& line) {
    return line.quota.ns.empty() ? kOverMany : line.quota.ns;
  });
  if (spaces.size() > 1) return head + FoldsHtml(spaces, "namespace");
  const auto quotas = FoldsBy(page, [](const UsageLine& line) { return line.QuotaTitle(); });
  if (quotas.size() > kUnfoldedQuotas) return head + FoldsHtml(quotas, "quota");
  return head + LineTable(spaces.front().lines, false);
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
