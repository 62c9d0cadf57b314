#pragma once

// Child processes that never outlive the test. Each leads its own process group, is killed by the
// kernel if the test program dies, and by the destructor if it still runs.
//
// Errors of the harness itself (a program that cannot be started, a deadline of the harness) are
// exceptions: Catch2 reports them as failures of the running test.

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace e2e {

struct ProcessOptions {
  std::vector<std::string> argv;             // argv[0] is the path of the program
  std::map<std::string, std::string> env{};  // added to the environment, or replacing variables
  std::string log_path{};                    // receives stdout and stderr, appended; "" drops them
  int most_descriptors = 0;                  // RLIMIT_NOFILE, soft and hard; 0: ours
  int channel = -1;  // our descriptor that becomes the child's number 3; -1: none
};

class Process {
 public:
  explicit Process(const ProcessOptions& options);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void Signal(int signal);
  // Sends SIGKILL to the whole group; returns when it is gone.
  void Kill();
  // Returns the exit code once the process ends (128 + n after signal n); nullopt after `timeout`.
  std::optional<int> Wait(std::chrono::milliseconds timeout);
  [[nodiscard]] bool Running() { return !Wait(std::chrono::milliseconds(0)); }
  [[nodiscard]] int pid() const { return pid_; }

 private:
  int pid_ = -1;
  std::optional<int> exit_code_;
};

// Fails the running test, because the program `name` ended with this code when it should run.
// Prints the last lines of its log. Outside of a test it only prints.
void ReportEnd(const std::string& name, int exit_code, const std::string& log);
// `fail` fails the running test with this text, and does not throw; null: no test runs.
void OnReportedEnd(std::function<void(const std::string& text)> fail);

struct ProgramResult {
  int exit_code = 0;
  std::string output;  // stdout and stderr
};

// Runs a program to its end; throws if it takes longer than `timeout`.
ProgramResult RunProgram(const ProcessOptions& options, std::chrono::milliseconds timeout);

// Resident memory in bytes and CPU seconds used so far; zeros if the process is gone.
struct ProcessUsage {
  long resident_bytes = 0;
  long peak_resident_bytes = 0;  // maximum so far
  double cpu_seconds = 0;
};
ProcessUsage UsageOf(int pid);

}  // namespace e2e
