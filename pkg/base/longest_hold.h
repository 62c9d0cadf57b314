#pragma once

// The longest time in each second for which one piece of work held a loop, and nothing else had a
// turn. No I/O, one thread.

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "pkg/base/clock.h"

namespace base {

class LongestHold {
 public:
  static constexpr std::chrono::seconds kPeriod{1};

  explicit LongestHold(TimePoint now) : since_(now) {}

  // A piece of work began and ended then. When a period is over with it, the longest of that.
  std::optional<Duration> OnWork(TimePoint began, TimePoint ended) {
    longest_ = std::max(longest_, ended - began);
    if (ended - since_ < kPeriod) return std::nullopt;
    since_ = ended;
    return std::exchange(longest_, Duration::zero());
  }

 private:
  TimePoint since_;
  Duration longest_{};
};

}  // namespace base
