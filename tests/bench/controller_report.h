#pragma once

// The measurements of controller_bench, as tables and as a plot.

#include <string>
#include <vector>

#include "tests/bench/contender.h"

namespace bench {

constexpr int kDeletions = 31;
constexpr int kStarts = 5;  // of the daemon, and as many downloads by a bare client

// One contender at one size.
struct Measured {
  Contender contender = Contender::kDaemon;
  int pods = 0;
  std::vector<double> seconds_to_counted = {};
  std::vector<double> cpu_to_counted = {};  // seconds
  std::vector<double> bare_seconds = {};    // of the client that only downloads
  double resident_mb = 0;
  std::vector<double> delete_ms = {};
  double cpu_ms_per_delete = 0;
};

// All that was measured, a line for each.
void PrintRows(const std::vector<Measured>& rows);
// The daemon's numbers beside their targets and the built-in controller's.
void PrintTargets(const std::vector<Measured>& rows);
void DrawRows(const std::vector<Measured>& rows, const std::string& folder);

}  // namespace bench
