#pragma once

// Runs scenarios in several worker processes at once. A scenario that crashes or hangs its worker
// fails alone: the worker is replaced.

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/e2e/runner/load_token.h"
#include "tests/e2e/runner/outcome.h"
#include "tests/e2e/runner/worker.h"

namespace e2e {

struct PoolOptions {
  std::vector<std::string> worker_argv;
  int jobs = 1;
  std::chrono::milliseconds scenario_timeout{600'000};
  std::chrono::milliseconds finish_timeout{60'000};  // for a worker without further scenarios
  // Scenarios that keep the processors busy, and the file of their token; see load_token.h.
  std::set<std::string> heavy{};
  std::string token_path{};  // required if some are heavy
  std::string log_folder;
  std::string temporary_folder;
};

class Pool {
 public:
  // Calls `ended` with each outcome, in the order of the ends.
  Pool(PoolOptions options, std::function<void(const Outcome&)> ended);

  // Starts them in this order; returns when all have ended. Once in a process: whatever workers
  // leave behind is killed, so this process must have no other children. SIGTERM and SIGINT end it:
  // running scenarios fail, and no more are started.
  void Run(const std::vector<std::string>& scenarios);
  // Workers that did not exit with 0 after their last scenario, e.g. because of a sanitizer's
  // report.
  [[nodiscard]] const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  // Gives this worker its next scenario, lets it wait for the token of heavy scenarios, or lets it
  // end.
  void Feed(int number);
  void FeedWaiting();
  // Removes the first scenario that may run now from the queue; "" if none may.
  std::string Next();
  void Await();
  // Milliseconds until the first deadline of a scenario, for poll().
  [[nodiscard]] int UntilDeadline() const;
  void EndLate();
  void Conclude(int number, const Outcome& outcome);
  void Finish(int number);
  void Stop();
  // A killed worker cannot kill the processes that it started.
  void EndOrphans() const;

  PoolOptions options_;
  std::function<void(const Outcome&)> ended_;
  std::deque<std::string> queue_;
  std::map<int, std::unique_ptr<Worker>> workers_;  // by number
  std::map<int, std::unique_ptr<Worker>> waiting_;  // for the token; null: not started yet
  std::unique_ptr<LoadToken> token_;
  std::string heavy_running_;  // the scenario that has the token here
  std::vector<std::string> complaints_;
};

}  // namespace e2e
