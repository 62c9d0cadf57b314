#include "tests/e2e/harness/shifted_clock.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace e2e {
namespace {

constexpr const char* kLibrary = "libshifted_clock.so";

std::filesystem::path Beside(const char* name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

}  // namespace

ShiftedClock::ShiftedClock() { Set(std::chrono::seconds(0)); }

bool ShiftedClock::Built() { return std::filesystem::exists(Beside(kLibrary)); }

std::map<std::string, std::string> ShiftedClock::Environment() const {
  // AddressSanitizer must be the first library; this one does not need it.
  const char* asan = std::getenv("ASAN_OPTIONS");
  const std::string options = asan == nullptr ? "" : std::string(asan) + ":";
  return {{"LD_PRELOAD", Beside(kLibrary).string()},
          {"SHIFTED_CLOCK_FILE", path_},
          {"ASAN_OPTIONS", options + "verify_asan_link_order=0"}};
}

// Written in place, because the programs have mapped the file.
void ShiftedClock::Set(std::chrono::seconds shift) {
  const std::int64_t seconds = shift.count();
  std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
  if (!file) file.open(path_, std::ios::binary | std::ios::out);
  file.write(reinterpret_cast<const char*>(&seconds), sizeof seconds);
}

}  // namespace e2e
