#pragma once

// Measures, for each second, the longest time that one piece of work occupied an event loop. No
// I/O, one thread.

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

  // Records one piece of work. Returns the period's longest when this work ends a period.
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
