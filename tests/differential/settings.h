#pragma once

// The settings from the command line.

#include <cstddef>
#include <cstdint>
#include <string>

namespace differential {

struct Settings {
  std::string upstream;        // the program that tests/differential/build.sh prints
  std::size_t count = 20'000;  // objects, and pairs of quantities
  std::uint64_t seed = 1;
};

Settings& TheSettings();

}  // namespace differential
