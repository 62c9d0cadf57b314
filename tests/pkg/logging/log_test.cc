#include "pkg/logging/log.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <sstream>
#include <vector>

#include "pkg/api/time.h"
#include "pkg/json/value.h"
#include "tests/pkg/logging/log_children.h"

namespace log_test {

namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("log: each record is one line of text", "[logging]") {
  const auto run = log_children::RunEveryLevel(false);
  CHECK(run.signal == 0);
  const auto lines = Lines(run.text);
  REQUIRE(lines.size() == 4);
  CHECK_THAT(lines[0], StartsWith("I20") && Contains(" log_children.cc:") &&
                           Catch::Matchers::EndsWith("] first a=1"));
  CHECK_THAT(lines[1], StartsWith("W20") && Catch::Matchers::EndsWith("] second\\nline"));
  CHECK_THAT(lines[2], StartsWith("E20") && Catch::Matchers::EndsWith("] third"));
  CHECK(lines[3] == "log_children: flag --a: no \"b\"");
  // The date, the time and the zone are one RFC 3339 time.
  CHECK(api::ParseTime(lines[0].substr(1, lines[0].find(' ') - 1)).has_value());
}

TEST_CASE("log: each record is one line of JSON", "[logging]") {
  const auto run = log_children::RunEveryLevel(true);
  CHECK(run.signal == 0);
  const auto lines = Lines(run.text);
  REQUIRE(lines.size() == 4);
  std::vector<std::string> said;
  for (const std::string& line : lines) {
    CAPTURE(line);
    const auto record = json::Parse(line);
    REQUIRE(record.has_value());
    CHECK(api::ParseTime(record->StringAt({"ts"})).has_value());
    said.push_back(std::string(record->StringAt({"level"})) + " " +
                   std::string(record->StringAt({"msg"})) + " " +
                   std::string(record->StringAt({"a"})));
  }
  CHECK(said == std::vector<std::string>{"info first 1", "warning second\nline ", "error third ",
                                         "error flag --a: no \"b\" "});
}

TEST_CASE("log: a failed check is one record of JSON with its stack, and ends the process",
          "[logging]") {
  const auto run = log_children::RunFatal(true);
  CHECK(run.signal == SIGABRT);
  const auto lines = Lines(run.text);
  CAPTURE(run.text);
  REQUIRE(lines.size() == 1);
  const auto record = json::Parse(lines[0]).value();
  CHECK(record.StringAt({"level"}) == "fatal");
  CHECK(record.StringAt({"msg"}) == "Check failed: one == 2 (1 vs. 2) odd");
  CHECK_THAT(std::string(record.StringAt({"stacktrace"})), Contains("logging_test"));
}

TEST_CASE("log: a failed check in text has its line and glog's stack", "[logging]") {
  const auto run = log_children::RunFatal(false);
  CHECK(run.signal == SIGABRT);
  CHECK_THAT(run.text, StartsWith("F20") && Contains("] Check failed: one == 2 (1 vs. 2) odd\n") &&
                           Contains("*** Check failure stack trace: ***"));
}

TEST_CASE("log: a closed standard error loses only the log", "[logging]") {
  const auto run = log_children::RunWithoutReader();
  CHECK(run.signal == 0);
  CHECK(run.text.empty());
}

}  // namespace log_test
