#include "tests/e2e/runner/report.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <ostream>
#include <sstream>

namespace e2e {
namespace {

constexpr std::size_t kSlowest = 10;

std::string Fixed(double number, int width = 0) {
  char text[32];
  std::snprintf(text, sizeof text, "%*.1f", width, number);
  return text;
}

double Median(std::vector<double> numbers) {
  if (numbers.empty()) return 0;
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

double Maximum(const std::vector<double>& numbers) {
  return numbers.empty() ? 0 : *std::max_element(numbers.begin(), numbers.end());
}

// Without the lines of Progress (progress.cc), because the runner prints those itself.
void PrintOutput(std::ostream& out, const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("scenario: ")) out << line << "\n";
  }
}

std::string Cases(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " test case" : " test cases");
}

}  // namespace

void Report::Add(const Outcome& outcome) {
  auto& runs = runs_[outcome.name];
  runs.seconds.push_back(outcome.seconds);
  runs.cpu_seconds.push_back(outcome.cpu_seconds);
  assertions_passed_ += outcome.assertions_passed;
  assertions_failed_ += outcome.assertions_failed;
  if (outcome.passed) {
    ++passed_;
  } else {
    ++runs.failed;
    out_ << "scenario: " << outcome.name << " ...\n";
    PrintOutput(out_, outcome.output);
    if (!outcome.why.empty()) out_ << outcome.why << "\n";
  }
  out_ << "scenario: " << outcome.name << ": " << (outcome.passed ? "ok" : "FAILED") << " in "
       << Fixed(outcome.seconds) << " s" << std::endl;
}

void Report::Complain(const std::string& what) {
  complaints_.push_back(what);
  out_ << what << std::endl;
}

void Report::Summarize(double seconds, int jobs) const {
  double cpu_seconds = 0;
  for (const auto& [name, runs] : runs_) {
    cpu_seconds = std::accumulate(runs.cpu_seconds.begin(), runs.cpu_seconds.end(), cpu_seconds);
  }
  PrintSlowest();
  const bool repeated = std::any_of(runs_.begin(), runs_.end(), [](const auto& entry) {
    return entry.second.seconds.size() > 1;
  });
  if (repeated) PrintTable();
  if (const auto failed = Failed(); !failed.empty()) {
    out_ << "failed:\n";
    for (const auto& name : failed) out_ << "  " << name << "\n";
  }
  for (const auto& complaint : complaints_) {
    out_ << "failed: " << complaint.substr(0, complaint.find(';')) << "\n";
  }
  out_ << Cases(expected_) << " in " << Fixed(seconds) << " s with " << jobs << " jobs, "
       << Fixed(cpu_seconds) << " s of CPU\n";
  PrintCounts();
}

bool Report::Passed() const { return passed_ == expected_ && complaints_.empty(); }

std::vector<std::string> Report::Failed() const {
  std::vector<std::string> names;
  for (const auto& [name, runs] : runs_) {
    if (runs.failed > 0) names.push_back(name);
  }
  return names;
}

Costs Report::MeasuredCosts() const {
  Costs costs;
  for (const auto& [name, runs] : runs_) {
    if (runs.failed == 0) costs[name] = {Median(runs.seconds), Median(runs.cpu_seconds)};
  }
  return costs;
}

void Report::PrintSlowest() const {
  std::vector<std::pair<double, std::string>> slowest;
  for (const auto& [name, runs] : runs_) slowest.emplace_back(Maximum(runs.seconds), name);
  std::sort(slowest.rbegin(), slowest.rend());
  slowest.resize(std::min(slowest.size(), kSlowest));
  out_ << "\nslowest (seconds, of CPU):\n";
  for (const auto& [seconds, name] : slowest) {
    out_ << Fixed(seconds, 7) << Fixed(Maximum(runs_.at(name).cpu_seconds), 7) << "  " << name
         << "\n";
  }
}

void Report::PrintTable() const {
  out_ << "\n   runs failed  median     max  scenario (seconds)\n";
  for (const auto& [name, runs] : runs_) {
    char counts[32];
    std::snprintf(counts, sizeof counts, "%7zu%7d", runs.seconds.size(), runs.failed);
    out_ << counts << Fixed(Median(runs.seconds), 8) << Fixed(Maximum(runs.seconds), 8) << "  "
         << name << "\n";
  }
}

void Report::PrintCounts() const {
  if (Passed()) {
    out_ << "All tests passed (" << assertions_passed_ << " assertions in " << Cases(expected_)
         << ")" << std::endl;
    return;
  }
  out_ << "test cases: " << expected_ << " | " << passed_ << " passed | " << expected_ - passed_
       << " failed\n"
       << "assertions: " << assertions_passed_ + assertions_failed_ << " | " << assertions_passed_
       << " passed | " << assertions_failed_ << " failed" << std::endl;
}

}  // namespace e2e
