#pragma once

// A schedule lists everything that happens in one run. So it can be drawn from a seed, printed,
// parsed, and shortened. Only the delays of single messages are not in it; they come from `seed`.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pkg/base/error.h"
#include "tests/simulation/objects.h"

namespace simulation {

// Happens `after` milliseconds after the previous action. world_actions.cc explains the numbers.
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
  Bursts bursts = Bursts::kNone;
  bool webhooks = false;        // there are webhooks of others, which replicas watch
  bool shared = false;          // one webhook has the rules of both quota APIs
  bool lagging = false;         // the API server may know only the webhook of the second quota API
  bool odd = false;             // others write what no daemon of this version would
  std::string planted;          // the name of a planted fault, or ""
  std::vector<ClockOf> clocks;  // one for each replica
  std::vector<Action> actions;
};

// `silent`: watches may show nothing for a long time without an error.
Schedule Draw(std::uint64_t seed, bool silent = false);
// Schedules of machines and their classes.
Schedule DrawIroncore(std::uint64_t seed, bool silent = false);
// Schedules of ClusterQuotas in trees, over namespaces whose labels change.
Schedule DrawCluster(std::uint64_t seed, bool silent = false);
// Schedules of ClusterQuotas, and of quotas in the namespaces.
Schedule DrawJoint(std::uint64_t seed, bool silent = false);
Schedule DrawOf(Api api, std::uint64_t seed, bool silent = false);
// The same with all oddities: amounts beyond each limit, texts that are no amounts, forged lists of
// reservations, lists of a later version, and an etcd that answers late.
Schedule DrawOdd(Api api, std::uint64_t seed, bool silent = false);

std::string ToText(const Action& action);
// One line for the whole, one for each action.
std::string ToText(const Schedule& schedule);
// Errors: kMalformed, naming the line.
base::Result<Schedule> ParseSchedule(const std::string& text);

}  // namespace simulation
