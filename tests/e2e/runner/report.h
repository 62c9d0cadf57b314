#pragma once

// The runner's output: a line for each ended scenario, the output of failed ones, and a summary
// that ends like Catch2's.

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "tests/e2e/runner/outcome.h"
#include "tests/e2e/runner/schedule.h"

namespace e2e {

class Report {
 public:
  // `expected` is the number of outcomes to come.
  Report(std::ostream& out, std::size_t expected) : out_(out), expected_(expected) {}

  void Add(const Outcome& outcome);
  // A failure of a worker process, not of a scenario; it makes the run fail.
  void Complain(const std::string& what);

  // Prints the slowest, the failed and, if scenarios ran more than once, a table of all; then the
  // counts.
  void Summarize(double seconds, int jobs) const;
  [[nodiscard]] bool Passed() const;
  // The names of failed scenarios, each once.
  [[nodiscard]] std::vector<std::string> Failed() const;
  // The median costs of passed scenarios.
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
