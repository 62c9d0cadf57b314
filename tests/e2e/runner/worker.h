#pragma once

// A worker process: it runs one scenario at a time for its parent. Over a socket the parent sends
// "NAME\n"; the answer is "passed P F\n" or "failed P F\n", with the numbers of passed and failed
// assertions. The worker ends when the parent closes the socket.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/e2e/harness/process.h"
#include "tests/e2e/runner/outcome.h"

namespace e2e {

struct WorkerOptions {
  std::vector<std::string> argv;
  std::string log_folder;        // of "worker-<number>.log"
  std::string temporary_folder;  // the parent of its own temporary folder
  int number = 1;
};

// The worker as its parent sees it.
class Worker {
 public:
  explicit Worker(const WorkerOptions& options);
  ~Worker();  // kill -9
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  [[nodiscard]] int pid() const { return process_->pid(); }
  // Becomes readable when the worker has answered or ended.
  [[nodiscard]] int socket() const { return socket_; }
  [[nodiscard]] bool busy() const { return running_; }
  // How long the current scenario has been running.
  [[nodiscard]] std::chrono::duration<double> Elapsed() const;

  void Start(const std::string& scenario);
  // Call when socket() is readable. Returns how the scenario ended, or nothing yet. If the worker
  // ended, the outcome has a `why`.
  std::optional<Outcome> Receive();
  // Kills the worker; its scenario failed for this reason.
  Outcome Abandon(const std::string& why);
  // Lets the worker end. Returns the exit code; nullopt if it did not end in time.
  std::optional<int> Finish(std::chrono::milliseconds timeout);
  // The output since the scenario started.
  [[nodiscard]] std::string Output() const;

 private:
  Outcome End(bool passed, const std::string& why);

  std::string temporary_folder_;
  std::string log_path_;
  int socket_ = -1;
  std::unique_ptr<Process> process_;
  bool running_ = false;
  std::string scenario_;
  std::string received_;
  std::chrono::steady_clock::time_point started_;
  double cpu_seconds_before_ = 0;
  std::size_t log_size_before_ = 0;
};

struct Verdict {
  bool passed = false;
  std::size_t assertions_passed = 0;
  std::size_t assertions_failed = 0;
};

// Runs in the worker: runs the parent's scenarios until there are no more. If `run` throws, the
// message goes to stderr and the scenario failed. Returns the exit code.
int ServeScenarios(const std::function<Verdict(const std::string& scenario)>& run);

}  // namespace e2e
