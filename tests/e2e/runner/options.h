#pragma once

// The command line of e2e_test: flags of the runner, and filters of Catch2.

#include <chrono>
#include <string>
#include <vector>

namespace e2e {

inline constexpr const char* kRunnerHelp =
    "e2e_test [Catch2's arguments]: all scenarios in this process, one after the other\n"
    "e2e_test --jobs N [flags] [Catch2's filters]: in N processes at once, each with a server of "
    "its own\n"
    "  --repeat K              each scenario K times, and a table of how that went\n"
    "  --scenario-timeout S    a scenario that takes longer than S seconds (600) fails\n"
    "  --failed-out FILE       the names of those that failed, one a line\n"
    "  --names-from FILE       only these, one a line\n"
    "  --times FILE            what each took, read for the order and written at the end\n"
    "                          (build/e2e-times-<server>.txt)\n"
    "  --logs FOLDER           keeps the output of every process there\n";

struct RunnerOptions {
  int jobs = 0;  // 0: without the runner
  int repeat = 1;
  std::chrono::seconds scenario_timeout{600};
  std::string failed_out;
  std::string names_from;
  std::string times;
  std::string logs;
  bool worker = false;  // the runner starts itself with this
  std::vector<std::string> catch_arguments;
};

// Parses "--jobs 4" or "--jobs=4". Throws if a value is missing or invalid.
RunnerOptions ParseRunnerOptions(const std::vector<std::string>& arguments);

}  // namespace e2e
