#include "tests/catch_session.h"

#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#include <optional>
#include <stdexcept>

namespace catch_session {
namespace {

// Catch2 allows only one session in a process.
Catch::Session& TheSession() {
  static Catch::Session session;
  return session;
}

std::optional<CaseResult> last_case;

class KeepResult : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    last_case = {.passed = stats.totals.testCases.allOk(),
                 .assertions_passed = stats.totals.assertions.passed,
                 .assertions_failed = stats.totals.assertions.failed};
  }
};

// Returns a Catch2 filter that matches only this name, unless the name begins or ends with *.
std::string FilterOf(const std::string& name) {
  std::string filter = "\"";
  for (const char c : name) {
    if (std::string_view("\\,[]\"~").find(c) != std::string_view::npos) filter += '\\';
    filter += c;
  }
  return filter + "\"";
}

Catch::ConfigData SelectionOf(const std::vector<std::string>& filters) {
  Catch::ConfigData data;
  data.processName = TheSession().configData().processName;
  data.testsOrTags = filters;
  return data;
}

std::vector<std::string> Selected() {
  const Catch::Config& config = TheSession().config();
  std::vector<std::string> names;
  for (const auto& test :
       Catch::filterTests(Catch::getAllTestCasesSorted(config), config.testSpec(), config)) {
    names.push_back(test.name);
  }
  return names;
}

}  // namespace

int Run(int argc, char** argv) { return TheSession().run(argc, argv); }

std::vector<std::string> Names(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv{"test"};
  for (const auto& argument : arguments) argv.push_back(argument.c_str());
  TheSession().useConfigData({});
  if (TheSession().applyCommandLine(static_cast<int>(argv.size()), argv.data()) != 0) {
    throw std::runtime_error("Catch2 does not understand its arguments");
  }
  return Selected();
}

CaseResult RunCase(const std::string& name) {
  static const Catch::ListenerRegistrar<KeepResult> keep_result;
  TheSession().useConfigData(SelectionOf({FilterOf(name)}));
  if (const auto names = Selected(); names != std::vector<std::string>{name}) {
    throw std::runtime_error("the filter " + FilterOf(name) + " matches " +
                             std::to_string(names.size()) + " test cases");
  }
  last_case.reset();
  const int code = TheSession().run();
  if (!last_case) {
    throw std::runtime_error("Catch2 ran no test case: exit code " + std::to_string(code));
  }
  return *last_case;
}

}  // namespace catch_session
