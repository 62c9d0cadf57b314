#pragma once

// Says when to log problems that are met again and again: each when it is first met, and every five
// minutes while it is. So the log of the last hour tells why, also after a rotation. Problems that
// alternate, or whose text is another each time, are not logged more often: at most eight lines
// come in five minutes. Single-threaded.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/base/clock.h"

namespace base {

class Reminder {
 public:
  static constexpr std::chrono::minutes kAgain{5};
  static constexpr std::size_t kMost = 8;

  // The problem was met. `problem` tells it from others. Returns true if it has to be logged.
  bool Meet(std::string_view problem, TimePoint now) {
    met_ = true;
    std::erase_if(said_, [now](const Said& one) { return now >= one.again; });
    const Said said{.problem = std::hash<std::string_view>()(problem), .again = now + kAgain};
    const bool known = std::ranges::find(said_, said.problem, &Said::problem) != said_.end();
    if (known || said_.size() == kMost) return false;
    said_.push_back(said);
    return true;
  }
  // All problems are solved. Returns true if there were any.
  bool Solve() {
    said_.clear();
    return std::exchange(met_, false);
  }
  [[nodiscard]] bool met() const { return met_; }

 private:
  struct Said {
    std::size_t problem;  // its hash
    TimePoint again;
  };

  bool met_ = false;
  std::vector<Said> said_;
};

}  // namespace base
