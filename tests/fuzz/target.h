#pragma once

// A fuzz target: a function that gets bytes, handles them as the program would, and checks what
// must hold afterwards. A file <name>_fuzz.cc defines one with FUZZ_TARGET(name). libFuzzer runs it
// (libfuzzer_main.cc), and fuzz_regression_test runs it in all builds with every input of
// corpus/<name>.
//
// A target is a pure function of its input: no clock, no randomness but Chance, no files. Inputs
// are text where possible, so that people can read and write them. Parts of an input are separated
// by lines of "====".

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

// Thrown by a target if a check fails.
class Broken : public std::logic_error {
  using std::logic_error::logic_error;
};

using Function = void (*)(std::string_view input);

struct Target {
  const char* name;
  Function run;
};

// All linked targets, by name.
const std::vector<Target>& Targets();
bool Register(const char* name, Function run);

inline void Require(bool holds, const char* what) {
  if (!holds) throw Broken(what);
}
// Requires equal texts; shows both if they differ.
void RequireSame(std::string_view a, std::string_view b, const char* what);

inline constexpr std::string_view kBetweenParts = "\n====\n";
// Returns exactly `count` parts of the input, separated by lines of "====". Missing ones are empty;
// the last one has the rest.
std::vector<std::string_view> Parts(std::string_view input, std::size_t count);

// Choices that depend only on the input, so that the same input always runs the same way.
class Chance {
 public:
  explicit Chance(std::string_view input);
  std::size_t Below(std::size_t bound);  // bound > 0
  bool OneIn(std::size_t count) { return Below(count) == 0; }

 private:
  std::uint64_t state_;
};

// The text cut at places chosen by `chance`: finely within a short part of it, sometimes
// everywhere. Each piece is a copy, so that reads beyond it are detected.
std::vector<std::string> Pieces(std::string_view text, Chance& chance);

}  // namespace fuzz

#define FUZZ_TARGET(name)                                                                   \
  static void Run_##name(std::string_view input);                                           \
  [[maybe_unused]] static const bool registered_##name = fuzz::Register(#name, Run_##name); \
  static void Run_##name([[maybe_unused]] std::string_view input)
