#pragma once

// Says when to log a problem that is met again and again: when it begins, when it changes, and
// every five minutes while it lasts. So the log of the last hour tells why, also after a rotation.
// Single-threaded.

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "pkg/base/clock.h"

namespace base {

class Reminder {
 public:
  static constexpr std::chrono::minutes kAgain{5};

  // The problem was met. `problem` tells it from others. Returns true if it has to be logged.
  bool Meet(std::string_view problem, TimePoint now) {
    if (met_ && problem_ == problem && now < again_) return false;
    met_ = true;
    problem_ = problem;
    again_ = now + kAgain;
    return true;
  }
  // The problem is solved. Returns true if there was one.
  bool Solve() { return std::exchange(met_, false); }
  [[nodiscard]] bool met() const { return met_; }

 private:
  bool met_ = false;
  std::string problem_;
  TimePoint again_;
};

}  // namespace base
