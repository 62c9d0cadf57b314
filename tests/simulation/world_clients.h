#pragma once

// Internal to the world: one write of a client, and one call of a webhook.

#include "tests/simulation/world.h"

namespace simulation {

// The limits that an action sets.
SpecLimits LimitsOf(const Action& action);
// The quota counts only claims, or machines, of that class, as far as its spec can be read.
bool IsGold(const Action& action);

struct World::Write {
  Resource resource = Resource::kClaims;
  Server::Key key;
  std::int64_t size = 1;
  bool gold = false;
  std::string of = {};  // the class of a machine
  int calls = 1;
  int to = 0;          // the replicas that are called, one decimal digit for each call
  int store = 0;       // milliseconds after the last answer; -1: never
  int slow = 0;        // milliseconds that another webhook takes for the last call
  int late = 0;        // milliseconds that the first call is on its way
  bool stale = false;  // the first call shows the version before, from the server's cache
  bool dry_run = false;
  bool create = false;  // also if the name exists: the server answers 409 after the admission
  bool old = false;     // a replica of an older version is called, which knows no reservations
};

struct World::Call {
  std::optional<admission::Answer> answer;
  bool ended = false;  // also if there is no answer
  std::unique_ptr<base::Alarm> alarm;
};

}  // namespace simulation
