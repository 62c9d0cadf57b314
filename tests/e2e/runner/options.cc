#include "tests/e2e/runner/options.h"

#include <charconv>
#include <functional>
#include <map>
#include <stdexcept>

namespace e2e {
namespace {

using Setter = std::function<void(const std::string& value)>;

Setter Text(std::string& target) {
  return [&target](const std::string& value) { target = value; };
}

template <typename Set>
Setter Positive(Set set) {
  return [set](const std::string& value) {
    int number = 0;
    const char* end = value.data() + value.size();
    if (std::from_chars(value.data(), end, number).ptr != end || number < 1) {
      throw std::runtime_error("'" + value + "' is not a number above 0");
    }
    set(number);
  };
}

}  // namespace

RunnerOptions ParseRunnerOptions(const std::vector<std::string>& arguments) {
  RunnerOptions options;
  const std::map<std::string, Setter> flags{
      {"--jobs", Positive([&](int value) { options.jobs = value; })},
      {"--repeat", Positive([&](int value) { options.repeat = value; })},
      {"--scenario-timeout",
       Positive([&](int value) { options.scenario_timeout = std::chrono::seconds(value); })},
      {"--failed-out", Text(options.failed_out)},
      {"--names-from", Text(options.names_from)},
      {"--times", Text(options.times)},
      {"--logs", Text(options.logs)}};
  bool any = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const std::size_t equals = argument.find('=');
    const auto flag = flags.find(argument.substr(0, equals));
    if (flag == flags.end()) {
      if (argument == "--worker") {
        options.worker = true;
      } else {
        options.catch_arguments.push_back(argument);
      }
      continue;
    }
    any = true;
    if (equals == std::string::npos && ++i == arguments.size()) {
      throw std::runtime_error(argument + " needs a value");
    }
    flag->second(equals == std::string::npos ? arguments[i] : argument.substr(equals + 1));
  }
  if (any && options.jobs == 0) throw std::runtime_error("the runner's flags need --jobs N");
  return options;
}

}  // namespace e2e
