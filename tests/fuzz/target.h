#pragma once

// A fuzz target: one function that is given bytes, does with them what the program would, and says
// what must hold of the outcome. A file <name>_fuzz.cc defines one with FUZZ_TARGET(name); it is
// run by libFuzzer (libfuzzer_main.cc) and, with every input of corpus/<name>, by
// fuzz_regression_test in all builds.
//
// A target is a pure function of its input: no clock, no chance but Chance, no files. Inputs are
// text where that is possible, so that a person can read and write them; an input of several parts
// has lines of "====" between them.

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

// Thrown out of a target when what must hold does not.
class Broken : public std::logic_error {
  using std::logic_error::logic_error;
};

using Function = void (*)(std::string_view input);

struct Target {
  const char* name;
  Function run;
};

// All that are linked in, by name.
const std::vector<Target>& Targets();
bool Register(const char* name, Function run);

inline void Require(bool holds, const char* what) {
  if (!holds) throw Broken(what);
}
// The texts must be the same; both are shown if they are not.
void RequireSame(std::string_view a, std::string_view b, const char* what);

// Exactly `count` parts of the input, as it is cut by lines of "===="; missing ones are empty, the
// last one holds the rest.
std::vector<std::string_view> Parts(std::string_view input, std::size_t count);

// Choices that follow from the input, so that the same input always runs the same way.
class Chance {
 public:
  explicit Chance(std::string_view input);
  std::size_t Below(std::size_t bound);  // bound > 0
  bool OneIn(std::size_t count) { return Below(count) == 0; }

 private:
  std::uint64_t state_;
};

// The text cut at places that chance chooses: finely within a short stretch of it, at times
// everywhere. Each piece is a copy, so that reading beyond it is seen.
std::vector<std::string> Pieces(std::string_view text, Chance& chance);

}  // namespace fuzz

#define FUZZ_TARGET(name)                                                                   \
  static void Run_##name(std::string_view input);                                           \
  [[maybe_unused]] static const bool registered_##name = fuzz::Register(#name, Run_##name); \
  static void Run_##name([[maybe_unused]] std::string_view input)
