#pragma once

// What the runner prints: a line for each scenario that ended, the output of those that failed, and
// a summary that ends as Catch2's does.

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "tests/e2e/runner/outcome.h"
#include "tests/e2e/runner/schedule.h"

namespace e2e {

class Report {
 public:
  // `expected`: how many outcomes there should be.
  Report(std::ostream& out, std::size_t expected) : out_(out), expected_(expected) {}

  void Add(const Outcome& outcome);
  // Of the process that ran scenarios, not of one of them; it makes the run a failed one.
  void Complain(const std::string& what);

  // The slowest, the failed and, if scenarios ran more than once, a table of all; then the counts.
  void Summarize(double seconds, int jobs) const;
  [[nodiscard]] bool Passed() const;
  // Each once.
  [[nodiscard]] std::vector<std::string> Failed() const;
  // Of those that passed: the medians.
  [[nodiscard]] Costs MeasuredCosts() const;

 private:
  struct Runs {
    std::vector<double> seconds{};
    std::vector<double> cpu_seconds{};
    int failed = 0;
  };

  void PrintSlowest() const;
  void PrintTable() const;
  void PrintCounts() const;

  std::ostream& out_;
  std::size_t expected_;
  std::map<std::string, Runs> runs_;
  std::size_t passed_ = 0;
  std::size_t assertions_passed_ = 0;
  std::size_t assertions_failed_ = 0;
  std::vector<std::string> complaints_;
};

}  // namespace e2e
