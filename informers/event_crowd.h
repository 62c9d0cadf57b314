#pragma once

// When a watch should not be read at once. An event that comes alone is taken at once; where they
// come by the hundred a second, waking for each of them costs more than to take it, so those of a
// few milliseconds are read together. No I/O, one thread.

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "pkg/base/clock.h"

namespace informers {

class EventCrowd {
 public:
  static constexpr std::chrono::milliseconds kPause{4};

  // `events` of so many bytes were read just now; how long to wait before the next read. Zero,
  // unless event followed event within kPause for a while; zero again once a read after a pause
  // finds one at most.
  [[nodiscard]] base::Duration PauseAfter(base::TimePoint now, std::uint64_t events,
                                          std::size_t bytes) {
    const bool close = paused_ ? events > 1 : events > 1 || now - last_ < kPause;
    in_a_row_ = close ? in_a_row_ + 1 : 0;
    last_ = now;
    const bool plenty = events >= kPlenty || bytes >= kPlentyBytes;
    paused_ = in_a_row_ >= kMany && !plenty;
    return paused_ ? base::Duration(kPause) : base::Duration::zero();
  }

 private:
  static constexpr int kMany = 16;  // reads: a handful of changes at once is no crowd
  // So many were waiting that more must be: they are not left to wait.
  static constexpr std::uint64_t kPlenty = 64;
  // Half of what one read takes at most: with large events that is few of them.
  static constexpr std::size_t kPlentyBytes = std::size_t{32} << 10;

  base::TimePoint last_{};  // when the last read ended
  int in_a_row_ = 0;        // reads that found company
  bool paused_ = false;     // after the last read
};

}  // namespace informers
