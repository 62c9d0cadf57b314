#include "tests/e2e/harness/shifted_clock.h"

#include <cstdint>
#include <filesystem>
#include <fstream>

namespace e2e {
namespace {

constexpr const char* kLibrary = "libshifted_clock.so";

}  // namespace

ShiftedClock::ShiftedClock() { Set(std::chrono::seconds(0)); }

bool ShiftedClock::Built() { return std::filesystem::exists(PreloadPath(kLibrary)); }

std::map<std::string, std::string> ShiftedClock::Environment() const {
  auto environment = Preloading(kLibrary);
  environment["SHIFTED_CLOCK_FILE"] = path_;
  return environment;
}

// Written in place, because the programs have mapped the file.
void ShiftedClock::Set(std::chrono::seconds shift) {
  const std::int64_t seconds = shift.count();
  std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
  if (!file) file.open(path_, std::ios::binary | std::ios::out);
  file.write(reinterpret_cast<const char*>(&seconds), sizeof seconds);
}

}  // namespace e2e
