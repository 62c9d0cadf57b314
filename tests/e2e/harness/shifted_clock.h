#pragma once

// A wall clock for programs under test, set by a preloaded library (tests/e2e/preload).
//
// One thread.

#include <chrono>
#include <map>
#include <string>

#include "tests/e2e/harness/files.h"

namespace e2e {

class ShiftedClock {
 public:
  // The clock is right until it is set.
  ShiftedClock();
  // The environment of a program under this clock.
  [[nodiscard]] std::map<std::string, std::string> Environment() const;
  // Makes the clock wrong by this much.
  void Set(std::chrono::seconds shift);

  // False: the library was not built beside the running program.
  static bool Built();

 private:
  TempDir dir_;
  std::string path_ = dir_.path() + "/shift";
};

}  // namespace e2e
