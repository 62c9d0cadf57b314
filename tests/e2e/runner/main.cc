// All scenarios: as a Catch2 program, or several at once (--jobs).
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "tests/catch_session.h"
#include "tests/e2e/harness/files.h"
#include "tests/e2e/runner/options.h"
#include "tests/e2e/runner/pool.h"
#include "tests/e2e/runner/report.h"
#include "tests/e2e/runner/schedule.h"
#include "tests/e2e/runner/worker.h"

namespace e2e {
namespace {

int Serve() {
  return ServeScenarios([](const std::string& scenario) -> Verdict {
    const auto result = catch_session::RunCase(scenario);
    return {result.passed, result.assertions_passed, result.assertions_failed};
  });
}

std::vector<std::string> ReadLines(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

std::set<std::string> Tagged(const std::string& tag) {
  const auto names = catch_session::Names({tag});
  return {names.begin(), names.end()};
}

// Orders the first run, for which no times are known.
void PutSlowFirst(std::vector<std::string>& names) {
  const auto slow = Tagged("[slow]");
  std::stable_partition(names.begin(), names.end(),
                        [&](const std::string& name) { return slow.contains(name); });
}

std::vector<std::string> Selected(const RunnerOptions& options) {
  auto names = catch_session::Names(options.catch_arguments);
  PutSlowFirst(names);
  if (options.names_from.empty()) return names;
  const std::set<std::string> known(names.begin(), names.end());
  auto wanted = ReadLines(options.names_from);
  for (const auto& name : wanted) {
    if (!known.contains(name)) throw std::runtime_error("there is no scenario '" + name + "'");
  }
  return wanted;
}

void WriteFailed(const std::string& path, const Report& report) {
  std::ofstream file(path, std::ios::trunc);
  for (const auto& name : report.Failed()) file << name << "\n";
}

void UpdateCosts(const std::string& path, const Report& report) {
  Costs costs = ReadCosts(path);
  for (const auto& [name, cost] : report.MeasuredCosts()) costs[name] = cost;
  WriteCosts(path, costs);
}

// Workers append to their logs.
void RemoveOldLogs(const std::string& folder) {
  if (!std::filesystem::is_directory(folder)) return;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("worker-") && name.ends_with(".log")) std::filesystem::remove(entry);
  }
}

// Beside the folder of the programs under test, one file for each kind of server.
std::string DefaultTimes() {
  const std::filesystem::path program = BuiltProgram("quota-controller-manager");
  const char* server = std::getenv("QCM_E2E_SERVER");
  const std::string tier = server == nullptr ? "sandbox" : server;
  return program.parent_path().parent_path() / ("e2e-times-" + tier + ".txt");
}

int RunAll(const RunnerOptions& options) {
  const auto started = std::chrono::steady_clock::now();
  const TempDir temporary;
  const std::string times = options.times.empty() ? DefaultTimes() : options.times;
  const auto scenarios = Schedule(Selected(options), ReadCosts(times), options.repeat);
  if (scenarios.empty()) throw std::runtime_error("no scenario is selected");
  if (!options.logs.empty()) RemoveOldLogs(options.logs);
  Report report(std::cout, scenarios.size());
  Pool pool({.worker_argv = {"/proc/self/exe", "--worker"},
             .jobs = options.jobs,
             .scenario_timeout = options.scenario_timeout,
             .heavy = Tagged("[load]"),
             .token_path = std::filesystem::temp_directory_path() / "quota-e2e-load.lock",
             .log_folder = options.logs.empty() ? temporary.path() : options.logs,
             .temporary_folder = temporary.path()},
            [&](const Outcome& outcome) { report.Add(outcome); });
  pool.Run(scenarios);
  for (const auto& complaint : pool.complaints()) report.Complain(complaint);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
  UpdateCosts(times, report);
  if (!options.failed_out.empty()) WriteFailed(options.failed_out, report);
  report.Summarize(seconds.count(), options.jobs);
  return report.Passed() ? 0 : 1;
}

// True for --list-tests and similar flags, and --help.
bool AsksCatch(const RunnerOptions& options) {
  for (const auto& argument : options.catch_arguments) {
    if (argument.starts_with("-")) return true;
  }
  return false;
}

constexpr std::string_view kListNames = "--list-test-names-only";

bool ListsSomeNames(const RunnerOptions& options) {
  return !options.names_from.empty() &&
         std::ranges::find(options.catch_arguments, kListNames) != options.catch_arguments.end();
}

// Catch2 does not know --names-from, and would list all scenarios.
int ListNames(RunnerOptions options) {
  std::erase(options.catch_arguments, kListNames);
  for (const std::string& name : Selected(options)) std::cout << name << "\n";
  return 0;
}

int Main(int argc, char** argv) {
  auto options = ParseRunnerOptions({argv + 1, argv + argc});
  if (options.worker) return Serve();
  if (ListsSomeNames(options)) return ListNames(std::move(options));
  if (options.jobs > 0 && !AsksCatch(options)) return RunAll(options);
  std::vector<char*> arguments{argv[0]};
  for (auto& argument : options.catch_arguments) {
    if (argument == "-h" || argument == "-?" || argument == "--help") std::cout << kRunnerHelp;
    arguments.push_back(argument.data());
  }
  arguments.push_back(nullptr);
  return catch_session::Run(static_cast<int>(arguments.size()) - 1, arguments.data());
}

}  // namespace
}  // namespace e2e

int main(int argc, char** argv) {
  try {
    return e2e::Main(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "e2e_test: " << error.what() << "\n";
    return 2;
  }
}
