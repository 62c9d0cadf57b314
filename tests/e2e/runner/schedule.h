#pragma once

// In which order scenarios are handed out: the longest first, so that none is left running alone at
// the end. How long each takes is known from an earlier run.

#include <map>
#include <string>
#include <vector>

namespace e2e {

struct Cost {
  double seconds = 0;
  double cpu_seconds = 0;  // of all processes of the scenario
};
using Costs = std::map<std::string, Cost>;  // by the scenario's name

// A file of lines "seconds cpu_seconds name"; nothing if there is none.
Costs ReadCosts(const std::string& path);
void WriteCosts(const std::string& path, const Costs& costs);

// Each name `repeat` times, round by round; a round has those of unknown cost first, in the order
// given, and then the longest first.
std::vector<std::string> Schedule(const std::vector<std::string>& names, const Costs& costs,
                                  int repeat);

}  // namespace e2e
