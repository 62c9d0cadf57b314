#pragma once

// What happens in one run, spelled out: so it can be drawn from a seed, printed, read again, and
// made shorter. Nothing else decides but the small times on the way, which `seed` gives.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pkg/base/error.h"
#include "tests/simulation/objects.h"

namespace simulation {

// Happens `after` milliseconds after the action before it. What the numbers mean is said where the
// action is performed (world_actions.cc).
struct Action {
  std::string what;
  int after = 0;
  std::map<std::string, int> numbers;

  [[nodiscard]] int Get(const std::string& name) const {
    const auto found = numbers.find(name);
    return found == numbers.end() ? 0 : found->second;
  }
};

struct ClockOf {
  int ahead_seconds = 0;
  int rate_percent = 100;
};

struct Schedule {
  std::uint64_t seed = 1;
  Api api = Api::kCore;
  bool advance = false;         // replicas reserve for those to come
  bool webhooks = false;        // of others, which replicas follow
  std::string planted;          // the name of a planted fault, or ""
  std::vector<ClockOf> clocks;  // one for each replica
  std::vector<Action> actions;
};

// `silent`: watches may show nothing for long though nobody notices.
Schedule Draw(std::uint64_t seed, bool silent = false);
// Of machines and their classes.
Schedule DrawIroncore(std::uint64_t seed, bool silent = false);
// Of ClusterQuotas in trees, over namespaces whose labels change.
Schedule DrawCluster(std::uint64_t seed, bool silent = false);
Schedule DrawOf(Api api, std::uint64_t seed, bool silent = false);

std::string ToText(const Action& action);
// One line for the whole, one for each action.
std::string ToText(const Schedule& schedule);
// Errors: kMalformed, naming the line.
base::Result<Schedule> ParseSchedule(const std::string& text);

}  // namespace simulation
