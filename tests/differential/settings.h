#pragma once

// The settings, from the environment.

#include <cstddef>
#include <cstdint>
#include <string>

namespace differential {

struct Settings {
  std::string upstream;        // QCM_UPSTREAM: the program that tests/differential/build.sh prints
  std::size_t count = 20'000;  // QCM_COUNT: objects, requests, and pairs of quantities
  std::uint64_t seed = 1;      // QCM_SEED: of the random objects
};

// Throws std::runtime_error if there is no upstream, or if a number is malformed.
const Settings& TheSettings();

}  // namespace differential
