#include "pkg/inspect/tree_view.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "pkg/base/text.h"
#include "pkg/inspect/foreign_text.h"
#include "pkg/inspect/output_version.h"
#include "pkg/inspect/usage_line.h"

namespace inspect {
namespace {

using quota::Quota;
using quota::ResourceList;

// Problems of a quota, from its conditions and from its place in the tree.
struct State {
  std::vector<std::string> words;  // "ParentNotFound", "OverLimit"
  std::vector<std::string> messages;
  bool wrong = false;

  void Add(std::string word, std::string message) {
    wrong = true;
    if (std::ranges::find(words, word) != words.end()) return;
    words.push_back(std::move(word));
    if (!message.empty()) messages.push_back(std::move(message));
  }
};

State StateOf(const Forest& forest, const Quota& quota) {
  State state;
  // Computed from the specs, so that it is shown even while no daemon writes conditions.
  if (auto flaw = forest.FlawOf(quota.key.name)) state.Add(flaw->reason, flaw->message);
  if (!quota.has_status_hard) state.Add("not counted yet", "");
  if (LagsBehind(quota)) state.Add("status of an older spec", "");
  const json::Value* conditions = quota.further_status.Find("conditions");
  if (conditions == nullptr || !conditions->IsArray()) return state;
  bool ready = false;
  for (const json::Value& condition : *conditions->AsArray()) {
    const std::string_view type = condition.StringAt({"type"});
    const bool holds = condition.StringAt({"status"}) == "True";
    const std::string message(condition.StringAt({"message"}));
    if (type == "Ready" && holds) ready = true;
    if (type == "Ready" && !holds) {
      state.Add(std::string(condition.StringAt({"reason"})), message);
    } else if (type == "Exempt" && holds) {
      state.messages.push_back(message);  // as its spec wants it
    } else if (type != "Ready" && holds) {
      const bool said = std::ranges::find(state.messages, message) != state.messages.end();
      state.Add(std::string(type), said ? "" : message);
    }
  }
  if (ready && !state.wrong) state.words.emplace_back("Ready");
  return state;
}

std::string AmountIn(const ResourceList& list, const std::string& name) {
  const quota::Quantity* amount = list.Find(name);
  return amount == nullptr ? "-" : amount->ToString();
}

std::string CountText(const Quota& quota, std::string_view member) {
  const json::Value* count = quota.further_status.Find(member);
  const auto number = count != nullptr ? count->AsInt64() : std::nullopt;
  return number ? std::to_string(*number) : "-";
}

// Returns the lines of the tree that are drawn before a quota's name, or before its further rows.
std::string Branch(const TreeEntry& entry, bool first, bool unicode) {
  const auto pick = [&](const char* drawn, const char* plain) { return unicode ? drawn : plain; };
  std::string text;
  for (std::size_t i = 0; i < entry.depth; ++i) {
    const bool own = i + 1 == entry.depth;
    const bool more = entry.more[i];
    if (own && first) {
      text += more ? pick("├─ ", "|- ") : pick("└─ ", "`- ");
    } else {
      text += more ? pick("│  ", "|  ") : "   ";
    }
  }
  if (!first && entry.has_below) text += pick("│", "|");
  return text;
}

class TreeWalk {
 public:
  TreeWalk(const Forest& forest, const TreeChoice& choice) : forest_(forest), choice_(choice) {}

  // Depth first. Without recursion, because the depth of a tree has no bound.
  std::vector<TreeEntry> Take() {
    const std::vector<std::string> tops =
        choice_.top.empty() ? forest_.Roots() : std::vector{choice_.top};
    Push(Shown(tops), 0, {});
    while (!todo_.empty()) {
      auto [name, depth, more] = std::move(todo_.back());
      todo_.pop_back();
      const auto below = Shown(Below(name));
      Push(below, depth + 1, more);
      entries_.push_back({.quota = forest_.Find(name),
                          .depth = depth,
                          .more = std::move(more),
                          .has_below = !below.empty()});
    }
    return std::move(entries_);
  }

 private:
  struct Todo {
    std::string name;
    std::size_t depth;
    std::vector<bool> more;
  };

  [[nodiscard]] std::vector<std::string> Below(const std::string& name) const {
    std::vector<std::string> names;
    const auto* place = forest_.Place(name);
    if (place == nullptr) return names;
    for (const auto* member : place->below) names.push_back(member->name);
    return names;
  }

  [[nodiscard]] std::vector<std::string> Shown(std::vector<std::string> names) const {
    std::erase_if(names, [this](const std::string& name) {
      return forest_.Find(name) == nullptr ||
             (choice_.only && std::ranges::find(*choice_.only, name) == choice_.only->end());
    });
    return names;
  }

  void Push(const std::vector<std::string>& names, std::size_t depth,
            const std::vector<bool>& above) {
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
      std::vector<bool> more = above;
      if (depth > 0) more.push_back(name != names.rbegin());
      todo_.push_back({*name, depth, std::move(more)});
    }
  }

  const Forest& forest_;
  const TreeChoice& choice_;
  std::vector<Todo> todo_;
  std::vector<TreeEntry> entries_;
};

Tone ToneOf(const State& state) { return state.wrong ? Tone::kNear : Tone::kFaint; }

// Returns the rows of one quota. Columns about the whole quota are filled in the first row only.
void AddRows(const Forest& forest, const TreeEntry& entry, const TreeStyle& style, Table& table) {
  const Quota& quota = *entry.quota;
  const State state = StateOf(forest, quota);
  const ResourceList available = forest.AvailableOf(quota.key.name);
  std::vector<UsageLine> lines = LinesOf(quota, "");
  const bool nothing = lines.empty();
  if (nothing) lines.emplace_back();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const UsageLine& line = lines[i];
    const bool first = i == 0;
    std::vector<Cell> row{Branch(entry, first, style.unicode) + (first ? quota.key.name : "")};
    if (nothing) {
      row.insert(row.end(), {"<none>", "", "", "", ""});
    } else {
      const std::string used = line.used ? line.used->ToString() : "-";
      row.insert(row.end(), {line.name,
                             used + "/" + line.hard.ToString(),
                             {PercentText(line), inspect::ToneOf(line)},
                             AmountIn(available, line.name),
                             AmountIn(quota.cluster->guaranteed, line.name)});
    }
    row.emplace_back(first ? CountText(quota, "namespaces") : "");
    row.emplace_back(first ? std::string(ModeText(quota)) : "");
    row.emplace_back(first ? base::Join(state.words, ", ") : "", ToneOf(state));
    if (style.wide) {
      row.emplace_back(!first ? "" : line.scopes.empty() ? "<none>" : line.scopes);
      row.emplace_back(first ? base::Join(state.messages, "; ") : "", Tone::kFaint);
    }
    table.rows.push_back(std::move(row));
  }
}

json::Array ResourcesOf(const Forest& forest, const Quota& quota) {
  json::Array resources;
  const ResourceList available = forest.AvailableOf(quota.key.name);
  for (const UsageLine& line : LinesOf(quota, "")) {
    json::Object item{{"resource", line.name}, {"hard", line.hard.ToString()}};
    if (line.used) item.Set("used", line.used->ToString());
    if (const auto* left = available.Find(line.name)) item.Set("available", left->ToString());
    const auto* guaranteed = quota.cluster->guaranteed.Find(line.name);
    if (guaranteed != nullptr) item.Set("guaranteed", guaranteed->ToString());
    if (line.stale) item.Set("stale", true);
    resources.emplace_back(std::move(item));
  }
  return resources;
}

}  // namespace

std::vector<TreeEntry> TreeOf(const Forest& forest, const TreeChoice& choice) {
  return TreeWalk(forest, choice).Take();
}

Table TreeTable(const Forest& forest, const std::vector<TreeEntry>& entries,
                const TreeStyle& style) {
  Table table{.titles = {"QUOTA", "RESOURCE", "USED/HARD", "USED%", "AVAILABLE", "GUARANTEED",
                         "NAMESPACES", "MODE", "STATE"},
              .rows = {}};
  if (style.wide) table.titles.insert(table.titles.end(), {"SCOPES", "WHY"});
  for (const TreeEntry& entry : entries) AddRows(forest, entry, style, table);
  return table;
}

json::Value TreeValue(const Forest& forest, const std::vector<TreeEntry>& entries) {
  json::Array items;
  for (const TreeEntry& entry : entries) {
    const Quota& quota = *entry.quota;
    json::Object item{{"name", quota.key.name},
                      {"depth", static_cast<std::int64_t>(entry.depth)},
                      {"mode", std::string(ModeText(quota))}};
    if (!quota.cluster->parent.empty()) item.Set("parent", quota.cluster->parent);
    for (const char* member : {"namespaces", "children"}) {
      if (const auto* count = quota.further_status.Find(member)) item.Set(member, *count);
    }
    const std::string scopes = ScopesText(quota.selector);
    if (!scopes.empty()) item.Set("scopes", scopes);
    const State state = StateOf(forest, quota);
    item.Set("state", json::Array(state.words.begin(), state.words.end()));
    item.Set("messages", json::Array(state.messages.begin(), state.messages.end()));
    item.Set("resources", ResourcesOf(forest, quota));
    items.emplace_back(std::move(item));
  }
  return json::Object{
      {"apiVersion", kOutputVersion}, {"kind", "ClusterQuotaTree"}, {"items", std::move(items)}};
}

std::string TreeNames(const std::vector<TreeEntry>& entries) {
  std::string text;
  for (const TreeEntry& entry : entries) {
    text += Line("clusterquota.quota-controller-manager.io/" + entry.quota->key.name);
  }
  return text;
}

}  // namespace inspect
