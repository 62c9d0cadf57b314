// --logging-format: each line of a JSON log is one record, in every situation.
#include <catch2/catch.hpp>
#include <sstream>

#include "pkg/api/time.h"
#include "tests/e2e/harness/scenario.h"

namespace e2e::log_format_test {
namespace {

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

json::Value Record(const std::string& line) {
  const auto record = json::Parse(line);
  CAPTURE(line);
  REQUIRE(record.has_value());
  CHECK(api::ParseTime(record->StringAt({"ts"})).has_value());
  for (const char* field : {"level", "caller", "msg"})
    CHECK_FALSE(record->StringAt({field}).empty());
  return *record;
}

}  // namespace

TEST_CASE("log: every line of JSON is a record with its fields", "[e2e][log]") {
  Scenario s;
  Daemon& daemon = s.StartDaemon(DaemonOptions{.more_flags = {"--logging-format=json", "-v=2"}});
  s.Create("resourcequotas", Quota("q", {{"pods", "5"}}));
  s.Create("pods", Pod("p"));
  s.WaitUsed("q", {{"pods", "1"}});
  CHECK(daemon.Stop() == 0);
  std::map<std::string, json::Value> by_message;
  for (const std::string& line : Lines(daemon.Log())) {
    json::Value record = Record(line);
    by_message.insert_or_assign(std::string(record.StringAt({"msg"})), record);
  }
  REQUIRE(by_message.contains("quota-controller-manager"));
  CHECK_FALSE(by_message["quota-controller-manager"].StringAt({"version"}).empty());
  REQUIRE(by_message.contains("status written"));
  CHECK(by_message["status written"].StringAt({"quota"}) == s.ns() + "/q");
  CHECK(by_message["status written"].StringAt({"used"}) == "pods=1");
  CHECK(by_message.contains("stopped"));
}

TEST_CASE("log: a line of text begins with its level, and with a time with year and zone",
          "[e2e][log]") {
  Scenario s;
  Daemon& daemon = s.StartDaemon(DaemonOptions{.env = {{"TZ", "Asia/Kolkata"}}});
  CHECK(daemon.Stop() == 0);
  const auto lines = Lines(daemon.Log());
  REQUIRE_FALSE(lines.empty());
  for (const std::string& line : lines) {
    CAPTURE(line);
    CHECK(std::string("IWE").find(line.front()) != std::string::npos);
    CHECK(api::ParseTime(line.substr(1, line.find(' ') - 1)).has_value());
  }
}

TEST_CASE("log: a failed start is logged in the requested format", "[e2e][log]") {
  const auto start = [](const std::vector<std::string>& flags) {
    std::vector<std::string> argv{BuiltProgram("quota-controller-manager")};
    argv.insert(argv.end(), flags.begin(), flags.end());
    return RunProgram({.argv = argv, .env = {{"KUBECONFIG", ""}, {"HOME", "/nonexistent"}}},
                      Patience());
  };
  const auto no_file = start({"--kubeconfig=/no/such/file", "--logging-format=json"});
  CHECK(no_file.exit_code == 2);
  CHECK(Lines(no_file.output).size() == 1);
  const json::Value record = Record(Lines(no_file.output).front());
  CHECK(record.StringAt({"level"}) == "error");
  CHECK(record.StringAt({"msg"}).find("/no/such/file") != std::string::npos);
  const auto bad_flag = start({"--resync-period=soon", "--logging-format=json"});
  CHECK(bad_flag.exit_code == 2);
  CHECK(Record(bad_flag.output).StringAt({"msg"}).starts_with("flag --resync-period: "));
  const auto format = start({"--logging-format=xml"});
  CHECK(format.exit_code == 2);
  CHECK(format.output ==
        "quota-controller-manager: flag --logging-format: must be text or json: \"xml\"\n");
}

}  // namespace e2e::log_format_test
