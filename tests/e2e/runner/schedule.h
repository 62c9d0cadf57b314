#pragma once

// The order in which scenarios start: the longest first, so that none runs alone at the end. The
// durations come from an earlier run.

#include <map>
#include <string>
#include <vector>

namespace e2e {

struct Cost {
  double seconds = 0;
  double cpu_seconds = 0;  // of all processes of the scenario
};
using Costs = std::map<std::string, Cost>;  // by the scenario's name

// Reads a file of lines "seconds cpu_seconds name"; empty if there is none.
Costs ReadCosts(const std::string& path);
void WriteCosts(const std::string& path, const Costs& costs);

// Returns each name `repeat` times, round by round. In a round those of unknown cost come first, in
// the given order, and then the longest first.
std::vector<std::string> Schedule(const std::vector<std::string>& names, const Costs& costs,
                                  int repeat);

}  // namespace e2e
