#pragma once

// The record of a soak: rows of a CSV file, a plot, a verdict.
//
// Values; any thread.

#include <string>
#include <vector>

#include "tests/bench/soak_cluster.h"

namespace bench {

struct Sample {
  double seconds = 0;       // since the load began
  std::string fault = {};   // of the cycle that ended here; "": during the load
  double lag_seconds = -1;  // from the end of fault and load until all was right; -1: not measured
  int untrue = 0;           // quotas that were not right within the limit
  Vitals first;             // the replica that survives
  Vitals second;
};

// A straight line through values over time: by how much it rises from the first to the last.
struct Trend {
  double mean = 0;
  double rise = 0;
};
Trend TrendOf(const std::vector<std::pair<double, double>>& points);

struct Verdict {
  bool flat = true;
  std::vector<std::string> lines;  // for people
};

class SoakRecord {
 public:
  void Add(Sample sample) { samples_.push_back(std::move(sample)); }
  [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }
  [[nodiscard]] std::string Csv() const;
  // `subtitle` says what was run.
  [[nodiscard]] std::string Svg(const std::string& subtitle) const;
  // Judges the first replica, after the first third.
  [[nodiscard]] Verdict Judge() const;
  [[nodiscard]] double LongestLag() const;
  [[nodiscard]] double MedianLag() const;
  [[nodiscard]] int cycles() const;
  // Writes of both replicas that charged in advance. A killed process loses its count since the
  // last sample.
  [[nodiscard]] double Advances() const;
  [[nodiscard]] int untrue() const;

 private:
  [[nodiscard]] std::vector<std::pair<double, double>> Points(Vitals Sample::*whose,
                                                              double Vitals::*what) const;
  void JudgeOne(const std::string& name, double Vitals::*what, double bound, double share,
                Verdict& verdict) const;

  std::vector<Sample> samples_;
};

}  // namespace bench
