#pragma once

// Seeded choices. The same seed gives the same run on every machine: of <random> only the engine is
// used, whose sequence the standard defines.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

namespace differential {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  // 0 … bound - 1.
  std::size_t Below(std::size_t bound) { return static_cast<std::size_t>(engine_() % bound); }
  std::size_t Between(std::size_t least, std::size_t most) {
    return least + Below(most - least + 1);
  }
  bool Percent(std::size_t chance) { return Below(100) < chance; }
  const char* OneOf(std::initializer_list<const char*> choices) {
    return choices.begin()[Below(choices.size())];
  }
  const std::string& OneOf(const std::vector<std::string>& choices) {
    return choices[Below(choices.size())];
  }
  std::uint64_t Number() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

}  // namespace differential
