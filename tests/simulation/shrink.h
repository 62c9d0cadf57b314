#pragma once

// Makes a failing schedule shorter while it fails in the same way (delta debugging).

#include <string>

#include "tests/simulation/schedule.h"

namespace simulation {

struct Shrunk {
  Schedule schedule;
  std::string violation;
};

Shrunk Shrink(Schedule schedule, std::string violation);

}  // namespace simulation
