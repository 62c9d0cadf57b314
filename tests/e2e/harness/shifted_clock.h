#pragma once

// A wall clock of its own for a program under test, by a preloaded library (tests/e2e/preload).
//
// One thread.

#include <chrono>
#include <map>
#include <string>

#include "tests/e2e/harness/files.h"

namespace e2e {

class ShiftedClock {
 public:
  // The programs' clock is right until it is set.
  ShiftedClock();
  // What a program needs in its environment.
  [[nodiscard]] std::map<std::string, std::string> Environment() const;
  // From now on it is wrong by so much.
  void Set(std::chrono::seconds shift);

  // False: the library was not built beside the running program.
  static bool Built();

 private:
  TempDir dir_;
  std::string path_ = dir_.path() + "/shift";
};

}  // namespace e2e
