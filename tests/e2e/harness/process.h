#pragma once

// Child processes that never outlive the test: each is the leader of its own process group, is
// killed by the kernel if the test program dies, and by the destructor if it still runs.
//
// Errors of the harness itself (a program that cannot be started, a deadline of the harness) are
// exceptions: Catch2 reports them as the failure of the running test.

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace e2e {

struct ProcessOptions {
  std::vector<std::string> argv;             // argv[0] is the path of the program
  std::map<std::string, std::string> env{};  // added to, or replacing, the environment
  std::string log_path{};                    // receives stdout and stderr, appended; "" drops them
  int most_descriptors = 0;                  // RLIMIT_NOFILE, soft and hard; 0: as ours
  int channel = -1;  // a descriptor of ours that the child has as number 3; -1: none
};

class Process {
 public:
  explicit Process(const ProcessOptions& options);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void Signal(int signal);
  // SIGKILL for the whole group; returns when it is gone.
  void Kill();
  // The exit code once the process ends (128 + signal if one ended it); nullopt after `timeout`.
  std::optional<int> Wait(std::chrono::milliseconds timeout);
  [[nodiscard]] bool Running() { return !Wait(std::chrono::milliseconds(0)); }
  [[nodiscard]] int pid() const { return pid_; }

 private:
  int pid_ = -1;
  std::optional<int> exit_code_;
};

struct ProgramResult {
  int exit_code = 0;
  std::string output;  // stdout and stderr
};

// Runs a program to its end; throws when it takes longer than `timeout`.
ProgramResult RunProgram(const ProcessOptions& options, std::chrono::milliseconds timeout);

// Resident memory in bytes and CPU seconds used so far; zeros if the process is gone.
struct ProcessUsage {
  long resident_bytes = 0;
  long peak_resident_bytes = 0;  // at most so far
  double cpu_seconds = 0;
};
ProcessUsage UsageOf(int pid);

}  // namespace e2e
