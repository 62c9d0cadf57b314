#pragma once

// A worker process: it runs one scenario at a time, as its parent says through a socket.
// The parent sends "NAME\n"; the answer is "passed P F\n" or "failed P F\n", with the numbers of
// assertions that passed and failed. The worker ends when the parent closes the socket.

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
  std::string temporary_folder;  // it has one of its own in there
  int number = 1;
};

// As the parent sees it.
class Worker {
 public:
  explicit Worker(const WorkerOptions& options);
  ~Worker();  // kill -9
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  [[nodiscard]] int pid() const { return process_->pid(); }
  // Readable when it has answered or ended.
  [[nodiscard]] int socket() const { return socket_; }
  [[nodiscard]] bool busy() const { return running_; }
  // How long the scenario runs that it has.
  [[nodiscard]] std::chrono::duration<double> Elapsed() const;

  void Start(const std::string& scenario);
  // After socket() became readable: how the scenario ended, or nothing yet. A worker that ended is
  // one whose outcome has a `why`.
  std::optional<Outcome> Receive();
  // Kills it; the scenario that it had failed for this reason.
  Outcome Abandon(const std::string& why);
  // Lets it end by itself. The exit code; nothing if it did not end in time.
  std::optional<int> Finish(std::chrono::milliseconds timeout);
  // What it wrote since the scenario started.
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

// In the worker: runs what the parent says until there is nothing more. What `run` throws is
// written to stderr, and the scenario failed. Returns the exit code.
int ServeScenarios(const std::function<Verdict(const std::string& scenario)>& run);

}  // namespace e2e
