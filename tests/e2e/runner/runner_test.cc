// The runner, with workers that are shell scripts; its order and its report.

#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/e2e/harness/files.h"
#include "tests/e2e/runner/options.h"
#include "tests/e2e/runner/pool.h"
#include "tests/e2e/runner/process_table.h"
#include "tests/e2e/runner/report.h"
#include "tests/e2e/runner/schedule.h"

namespace e2e {
namespace {

using Names = std::vector<std::string>;
using namespace std::chrono_literals;

// The first word of a scenario decides its outcome.
constexpr const char* kWorker = R"(
  while read -r what name <&3; do
    echo "output of $what $name"
    case $what in
      pass) echo "passed 2 0" >&3 ;;
      fail) echo "failed 1 1" >&3 ;;
      die) exit 7 ;;
      crash) kill -SEGV $$ ;;
      hang) sleep 1000 ;;
      leave) setsid sleep 1001 & sleep 1000 ;;
      meet) touch "$TMPDIR/../met $name"
            until [ -e "$TMPDIR/../met 1" ] && [ -e "$TMPDIR/../met 2" ]; do sleep 0.01; done
            echo "passed 1 0" >&3 ;;
      solo) if mkdir "$TMPDIR/../alone"; then
              until [ -e "$TMPDIR/../ended pass a" ]; do sleep 0.01; done
              rmdir "$TMPDIR/../alone"; echo "passed 1 0" >&3
            else echo "failed 0 1" >&3; fi ;;
      end) echo "passed 1 0" >&3; read -r <&3; exit 3 ;;
    esac
  done)";

struct Result {
  std::map<std::string, Outcome> outcomes{};
  Names order{};
  Names complaints{};
};

Result Run(const Names& scenarios, int jobs, std::chrono::milliseconds timeout = 60s) {
  const TempDir dir;
  Result result;
  Pool pool({.worker_argv = {"/bin/bash", "-c", kWorker},
             .jobs = jobs,
             .scenario_timeout = timeout,
             .heavy = {"solo 1", "solo 2", "solo 3"},
             .token_path = dir.path() + "/token",
             .log_folder = dir.path(),
             .temporary_folder = dir.path()},
            [&](const Outcome& outcome) {
              result.outcomes[outcome.name] = outcome;
              result.order.push_back(outcome.name);
              std::ofstream(dir.path() + "/ended " + outcome.name).flush();
            });
  pool.Run(scenarios);
  result.complaints = pool.complaints();
  return result;
}

std::string Print(const std::vector<Outcome>& outcomes, std::size_t expected) {
  std::ostringstream out;
  Report report(out, expected);
  for (const auto& outcome : outcomes) report.Add(outcome);
  report.Summarize(1.0, 2);
  return out.str();
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("scenarios are assigned in order, and each outcome is known") {
  const auto result = Run({"pass a", "fail b", "pass c, \"d\" [e]"}, 1);
  CHECK(result.order == Names{"pass a", "fail b", "pass c, \"d\" [e]"});
  CHECK(result.complaints.empty());
  CHECK(result.outcomes.at("pass a").passed);
  CHECK(result.outcomes.at("pass a").assertions_passed == 2);
  const auto& failed = result.outcomes.at("fail b");
  CHECK_FALSE(failed.passed);
  CHECK(failed.assertions_failed == 1);
  CHECK(failed.output == "output of fail b\n");  // only its own output
}

TEST_CASE("workers run at the same time") {
  const auto result = Run({"meet 1", "meet 2"}, 2);
  CHECK(result.outcomes.at("meet 1").passed);
  CHECK(result.outcomes.at("meet 2").passed);
}

TEST_CASE("a worker that ends, crashes or hangs fails its scenario and is replaced") {
  const auto result = Run({"die 1", "crash 1", "hang 1", "pass 1", "pass 2"}, 1, 500ms);
  CHECK(result.outcomes.size() == 5);
  CHECK(result.outcomes.at("die 1").why == "the process ended with code 7");
  CHECK(result.outcomes.at("die 1").output == "output of die 1\n");
  CHECK(result.outcomes.at("crash 1").why == "the process was ended by signal 11");
  CHECK(result.outcomes.at("hang 1").why == "not done within 0 s");
  CHECK(result.outcomes.at("pass 1").passed);
  CHECK(result.outcomes.at("pass 2").passed);
  CHECK(result.complaints.empty());
}

TEST_CASE("only one CPU-bound scenario runs at a time, beside others") {
  const auto result = Run({"solo 1", "solo 2", "solo 3", "pass a"}, 3);
  CHECK(result.order.front() == "pass a");
  REQUIRE(result.outcomes.size() == 4);
  for (const auto& [name, outcome] : result.outcomes) CHECK(outcome.passed);
}

TEST_CASE("runs with the same token path share the token") {
  const TempDir dir;
  LoadToken one(dir.path() + "/token");
  LoadToken other(dir.path() + "/token");
  REQUIRE(one.TryTake());
  CHECK_FALSE(one.TryTake());
  CHECK_FALSE(other.TryTake());
  one.GiveBack();
  CHECK(other.TryTake());
}

TEST_CASE("processes of a killed worker are killed with it") {
  const auto result = Run({"leave 1", "pass 1"}, 1, 500ms);
  CHECK(result.outcomes.at("pass 1").passed);
  CHECK(ProcessTable().ChildrenOf(getpid()).empty());
}

TEST_CASE("a worker that fails after its last scenario is reported") {
  const auto result = Run({"end 1"}, 1);
  CHECK(result.outcomes.at("end 1").passed);
  REQUIRE(result.complaints.size() == 1);
  CHECK(Contains(result.complaints[0], "worker 1 ended with code 3"));
}

TEST_CASE("scenarios of unknown duration are assigned first, then the longest") {
  const Costs costs{{"short", {1, 0}}, {"long", {60, 0}}};
  CHECK(Schedule({"short", "new", "long", "newer"}, costs, 1) ==
        Names{"new", "newer", "long", "short"});
  CHECK(Schedule({"short", "long"}, costs, 2) == Names{"long", "short", "long", "short"});
}

TEST_CASE("durations of scenarios are read back as written") {
  const TempDir dir;
  const std::string path = dir.path() + "/times";
  CHECK(ReadCosts(path).empty());
  WriteCosts(path, {{"a, \"b\" [c]", {1.5, 0.5}}, {"d", {20, 3}}});
  const auto costs = ReadCosts(path);
  REQUIRE(costs.size() == 2);
  CHECK(costs.at("a, \"b\" [c]").seconds == 1.5);
  CHECK(costs.at("d").cpu_seconds == 3);
}

TEST_CASE("the report ends as Catch2's does") {
  const Outcome passed{.name = "a", .passed = true, .assertions_passed = 3};
  const Outcome failed{.name = "b", .assertions_passed = 1, .assertions_failed = 1};
  CHECK(Contains(Print({passed}, 1), "\nAll tests passed (3 assertions in 1 test case)\n"));
  CHECK(Contains(Print({passed, failed}, 2), "\ntest cases: 2 | 1 passed | 1 failed\n"));
  // A scenario that never ran did not pass.
  CHECK(Contains(Print({passed}, 2), "\ntest cases: 2 | 1 passed | 1 failed\n"));
}

TEST_CASE("the report shows failures within the lines of their scenario") {
  const auto text = Print({{.name = "b",
                            .why = "it was late",
                            .seconds = 2,
                            .output = "scenario: b ...\nwhat it said\n"}},
                          1);
  CHECK(text.starts_with(
      "scenario: b ...\nwhat it said\nit was late\nscenario: b: FAILED in 2.0 s\n"));
  CHECK(Contains(text, "failed:\n  b\n"));
}

TEST_CASE("scenarios that ran more than once are listed in a table") {
  const auto text = Print({{.name = "a", .passed = true, .seconds = 1},
                           {.name = "a", .seconds = 3},
                           {.name = "a", .passed = true, .seconds = 2}},
                          3);
  CHECK(Contains(text, "      3      1     2.0     3.0  a\n"));
}

TEST_CASE("the runner's flags are separated from Catch2's arguments") {
  const auto options = ParseRunnerOptions({"--jobs", "4", "~[real-only]", "--repeat=3"});
  CHECK(options.jobs == 4);
  CHECK(options.repeat == 3);
  CHECK(options.catch_arguments == Names{"~[real-only]"});
  CHECK_THROWS(ParseRunnerOptions({"--jobs", "none"}));
  CHECK_THROWS(ParseRunnerOptions({"--jobs"}));
  CHECK_THROWS(ParseRunnerOptions({"--repeat", "3"}));
}

}  // namespace e2e
