#pragma once

// Decides until when a transfer may be waited for. A timeout for silence is not enough: a server
// that sends a byte each minute is never silent and never ends. No I/O, one thread.

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "pkg/base/clock.h"

namespace informers {

// 60 KiB a minute: far below any usable link, far above a few bytes that keep a connection open.
class Progress {
 public:
  static constexpr std::size_t kBytes = std::size_t{60} << 10;
  static constexpr std::chrono::seconds kWithin{60};

  // The transfer begins now, and ends at `last` whatever its rate.
  Progress(base::TimePoint now, base::TimePoint last) : since_(now), last_(last) {}

  void Take(base::TimePoint now, std::size_t bytes) {
    bytes_ += bytes;
    if (bytes_ >= kBytes) Restart(now);
  }
  // What was sent until now was useful.
  void Restart(base::TimePoint now) {
    bytes_ = 0;
    since_ = now;
  }
  // The next kBytes, or the end, must have arrived at this time.
  [[nodiscard]] base::TimePoint Until() const { return std::min(since_ + kWithin, last_); }

 private:
  base::TimePoint since_;
  base::TimePoint last_;
  std::size_t bytes_ = 0;  // since then
};

}  // namespace informers
