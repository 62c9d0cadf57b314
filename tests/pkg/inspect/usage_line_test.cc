#include "pkg/inspect/usage_line.h"

#include <catch2/catch.hpp>

#include "pkg/json/value.h"

namespace usage_line_test {

using inspect::LinesOf;
using inspect::UsageLine;

quota::Quantity Amount(const char* text) { return *quota::Quantity::Parse(text); }

UsageLine Line(const char* used, const char* hard) {
  return {.kind = "",
          .quota = {"team-a", "compute"},
          .name = "requests.cpu",
          .hard = Amount(hard),
          .used = used == nullptr ? std::nullopt : std::optional(Amount(used))};
}

quota::Quota Parse(const char* text) { return *quota::ParseQuota(*json::Parse(text)); }

TEST_CASE("usage line: only a limit that is used up is full", "[inspect]") {
  struct Row {
    const char* used;
    const char* hard;
    const char* percent;
    const char* bar;
    inspect::Tone tone;
  };
  const Row row = GENERATE(Row{"0", "4", "0%", "..........", inspect::Tone::kGood},
                           Row{"1m", "4", "0%", "#.........", inspect::Tone::kGood},
                           Row{"3", "4", "75%", "#######...", inspect::Tone::kGood},
                           Row{"3600m", "4", "90%", "#########.", inspect::Tone::kNear},
                           Row{"3999m", "4", "99%", "#########.", inspect::Tone::kNear},
                           Row{"4", "4", "100%", "##########", inspect::Tone::kFull},
                           Row{"6", "4", "150%", "##########", inspect::Tone::kFull},
                           Row{"0", "0", "-", "..........", inspect::Tone::kGood},
                           Row{"1", "0", "over", "##########", inspect::Tone::kFull},
                           Row{nullptr, "4", "-", "..........", inspect::Tone::kFaint});
  const UsageLine line = Line(row.used, row.hard);
  INFO((row.used == nullptr ? "nothing" : row.used) << " of " << row.hard);
  CHECK(inspect::PercentText(line) == row.percent);
  CHECK(inspect::Bar(line.Fullness(), false) == row.bar);
  CHECK(inspect::ToneOf(line) == row.tone);
}

TEST_CASE("usage line: the free amount is negative above the limit", "[inspect]") {
  CHECK(Line("1500m", "4").Free()->ToString() == "2500m");
  CHECK(Line("5", "4").Free()->ToString() == "-1");
  CHECK_FALSE(Line(nullptr, "4").Free());
}

TEST_CASE("usage line: the enforced limits count, and a different spec is stale", "[inspect]") {
  const auto quota = Parse(
      R"({"metadata": {"name": "q", "namespace": "a", "uid": "1", "resourceVersion": "1"},
          "spec": {"hard": {"pods": "5", "cpu": "2", "secrets": "1"}},
          "status": {"hard": {"pods": "3", "cpu": "2"}, "used": {"pods": "1"}}})");
  const auto lines = LinesOf(quota, "");
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].name == "cpu");
  CHECK_FALSE(lines[0].stale);
  CHECK_FALSE(lines[0].used);
  CHECK(lines[1].name == "pods");
  CHECK(lines[1].hard.ToString() == "3");
  CHECK(lines[1].stale);
  CHECK(lines[2].name == "secrets");
  CHECK(lines[2].stale);
}

TEST_CASE("usage line: lines are sorted by fullness, then by name", "[inspect]") {
  std::vector<UsageLine> lines{Line("0", "4"), Line("4", "4"), Line("1", "0"), Line("1", "2")};
  lines.push_back(Line("4", "4"));
  lines.back().quota.name = "a";
  inspect::SortByFullness(lines);
  std::string order;
  for (const auto& line : lines) order += line.quota.name + " " + inspect::PercentText(line) + ";";
  CHECK(order == "compute over;a 100%;compute 100%;compute 50%;compute 0%;");
}

TEST_CASE("usage line: scopes are shown as written", "[inspect]") {
  const auto quota = Parse(
      R"({"metadata": {"name": "q", "namespace": "a", "uid": "1", "resourceVersion": "1"},
          "spec": {"hard": {"pods": "5"}, "scopes": ["BestEffort"],
                   "scopeSelector": {"matchExpressions": [
                     {"scopeName": "PriorityClass", "operator": "In", "values": ["high", "low"]}]}},
          "status": {}})");
  CHECK(LinesOf(quota, "")[0].scopes == "BestEffort,PriorityClass In (high,low)");
}

}  // namespace usage_line_test
