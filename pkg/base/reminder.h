#pragma once

// Says when to log problems that are met again and again: each when it is first met, and every five
// minutes while it is. So the log of the last hour tells why, also after a rotation. Problems that
// alternate, that come and go, or whose text is another each time, are not logged more often: at
// most eight lines come in five minutes, and as many that all is well again. Single-threaded.

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
    std::erase_if(said_, [now](const Said& one) { return now >= one.again; });
    const Said said{.problem = std::hash<std::string_view>()(problem), .again = now + kAgain};
    const bool known = std::ranges::any_of(
        said_, [&](const Said& one) { return one.problem == said.problem && !one.solved; });
    if (known || said_.size() == kMost) return false;
    said_.push_back(said);
    told_ = true;
    return true;
  }
  // All problems are solved. Returns true if this has to be logged: any of them was.
  bool Solve() {
    for (Said& one : said_) one.solved = true;
    return std::exchange(told_, false);
  }

 private:
  struct Said {
    std::size_t problem;  // its hash
    TimePoint again;
    bool solved = false;  // met once more, it is new
  };

  std::vector<Said> said_;  // in the last five minutes
  bool told_ = false;       // of a problem that is not solved
};

}  // namespace base
