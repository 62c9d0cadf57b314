#pragma once

#include <cstddef>
#include <string>

namespace e2e {

// How one run of one scenario ended.
struct Outcome {
  std::string name;
  bool passed = false;
  std::string why{};  // if no test failed but its process did: what happened to it
  double seconds = 0;
  double cpu_seconds = 0;  // of all processes of the scenario
  std::size_t assertions_passed = 0;
  std::size_t assertions_failed = 0;
  std::string output{};
};

}  // namespace e2e
