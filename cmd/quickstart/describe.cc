#include "cmd/quickstart/describe.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <vector>

#include "pkg/api/object_meta.h"
#include "pkg/quantity/quantity.h"

namespace quickstart {
namespace {

using quantity::Quantity;
using Row = std::array<std::string, 3>;

std::string TextOf(const json::Value* value) {
  if (value == nullptr) return "0";
  const std::string* text = value->AsString();
  if (text == nullptr) return json::Write(*value);
  const auto parsed = Quantity::Parse(*text);
  return parsed ? parsed->ToString() : *text;
}

// Returns the names and limits of status.hard, sorted.
std::map<std::string, std::string> HardOf(const json::Value& quota) {
  std::map<std::string, std::string> hard;
  const json::Value* limits = quota.At({"status", "hard"});
  if (limits != nullptr && limits->AsObject() != nullptr) {
    for (const auto& [name, limit] : *limits->AsObject()) hard[name] = TextOf(&limit);
  }
  return hard;
}

// If the notations differ, kubectl shows used in the notation of hard, as a whole number.
std::string UsedInNotationOf(const std::string& hard_text, const std::string& used_text) {
  const auto hard = Quantity::Parse(hard_text);
  const auto used = Quantity::Parse(used_text);
  if (!hard || !used || hard->format() == used->format()) return used_text;
  const quantity::Int128 whole = used->RoundUpToInteger().nanos() / quantity::kNanosPerOne;
  if (whole > std::numeric_limits<std::int64_t>::max()) return used_text;
  return Quantity::FromInt(static_cast<std::int64_t>(whole), hard->format()).ToString();
}

std::string Aligned(const std::vector<Row>& rows) {
  std::array<std::size_t, 2> width{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < 2; ++i) {
      // The lines "Name:" and "Namespace:" have two columns; their last one is not padded.
      const bool last = i == 1 && row[2].empty();
      if (!last) width[i] = std::max(width[i], row[i].size() + 2);
    }
  }
  std::string text;
  for (const Row& row : rows) {
    text += row[0] + std::string(width[0] - row[0].size(), ' ') + row[1];
    if (!row[2].empty()) text += std::string(width[1] - row[1].size(), ' ') + row[2];
    text += "\n";
  }
  return text;
}

// Returns a line of titles and a line of cells. The last column is not padded.
std::string Listed(const std::vector<std::pair<std::string, std::string>>& columns) {
  std::array<std::string, 2> lines;
  for (const auto& [title, cell] : columns) {
    const std::size_t width = std::max(title.size(), cell.size()) + 3;
    const bool last = &title == &columns.back().first;
    for (std::size_t i = 0; i < 2; ++i) {
      std::string text = i == 0 ? title : cell;
      if (!last) text.resize(width, ' ');
      lines[i] += text;
    }
  }
  return lines[0] + "\n" + lines[1] + "\n";
}

}  // namespace

std::string DescribeQuota(const json::Value& quota) {
  std::vector<Row> rows{{"Name:", std::string(api::Name(quota)), ""},
                        {"Namespace:", std::string(api::Namespace(quota)), ""},
                        {"Resource", "Used", "Hard"},
                        {"--------", "----", "----"}};
  for (const auto& [name, limit] : HardOf(quota)) {
    const std::string used = TextOf(quota.At({"status", "used", name}));
    rows.push_back({name, UsedInNotationOf(limit, used), limit});
  }
  return Aligned(rows);
}

std::string ListKarmadaQuota(const json::Value& quota) {
  const auto map = [&](const char* member) {
    const json::Value* value = quota.At({"status", member});
    return value == nullptr ? std::string() : json::Write(*value);
  };
  return Listed(
      {{"NAME", std::string(api::Name(quota))}, {"HARD", map("hard")}, {"USED", map("used")}});
}

std::string ListIroncoreQuota(const json::Value& quota) {
  std::string requests;
  for (const auto& [name, limit] : HardOf(quota)) {
    requests += (requests.empty() ? "" : ", ") + name + ": ";
    requests += TextOf(quota.At({"status", "used", name})) + "/" + limit;
  }
  return Listed({{"NAME", std::string(api::Name(quota))}, {"REQUEST", requests}});
}

std::string ListUsage(const json::Value& quota) {
  return Listed({{"NAME", std::string(api::Name(quota))},
                 {"USED/HARD", std::string(quota.StringAt({"status", "summary"}))}});
}

std::string ListClusterQuotas(const std::vector<json::Value>& quotas) {
  std::vector<std::array<std::string, 4>> rows{{"NAME", "PARENT", "PODS", "GUARANTEED"}};
  for (const json::Value& quota : quotas) {
    const std::string pods = TextOf(quota.At({"status", "used", "pods"})) + "/" +
                             TextOf(quota.At({"status", "hard", "pods"}));
    const json::Value* guaranteed = quota.At({"spec", "guaranteed", "pods"});
    rows.push_back({std::string(api::Name(quota)), std::string(quota.StringAt({"spec", "parent"})),
                    pods, guaranteed != nullptr ? TextOf(guaranteed) : ""});
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::size_t width = 0;
      for (const auto& other : rows) width = std::max(width, other[i].size());
      line += row[i] + std::string(width + 3 - row[i].size(), ' ');
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace quickstart
