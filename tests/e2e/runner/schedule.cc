#include "tests/e2e/runner/schedule.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>

namespace e2e {

Costs ReadCosts(const std::string& path) {
  Costs costs;
  std::ifstream file(path);
  Cost cost;
  std::string name;
  while (file >> cost.seconds >> cost.cpu_seconds && file.get() == ' ' &&
         std::getline(file, name)) {
    costs[name] = cost;
  }
  return costs;
}

void WriteCosts(const std::string& path, const Costs& costs) {
  // Renamed, so that two runs at once leave the file of one of them, and a reader sees all of it.
  const std::string fresh = path + ".new";
  std::ofstream file(fresh, std::ios::trunc);
  for (const auto& [name, cost] : costs) {
    char line[64];
    std::snprintf(line, sizeof line, "%.1f %.1f ", cost.seconds, cost.cpu_seconds);
    file << line << name << "\n";
  }
  file.close();
  std::filesystem::rename(fresh, path);
}

std::vector<std::string> Schedule(const std::vector<std::string>& names, const Costs& costs,
                                  int repeat) {
  const auto seconds = [&](const std::string& name) {
    const auto found = costs.find(name);
    return found == costs.end() ? std::numeric_limits<double>::max() : found->second.seconds;
  };
  std::vector<std::string> round = names;
  std::stable_sort(round.begin(), round.end(), [&](const std::string& a, const std::string& b) {
    return seconds(a) > seconds(b);
  });
  std::vector<std::string> all;
  for (int i = 0; i < repeat; ++i) all.insert(all.end(), round.begin(), round.end());
  return all;
}

}  // namespace e2e
