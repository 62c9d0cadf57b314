#pragma once

// When a watch should not be read at once. An event that comes alone is taken at once; where they
// come by the hundred a second, waking for each of them costs more than to take it, so those of a
// few milliseconds are read together. No I/O, one thread.

#include <chrono>
#include <cstdint>

#include "pkg/base/clock.h"

namespace informers {

class EventCrowd {
 public:
  static constexpr std::chrono::milliseconds kPause{4};

  // `events` were read just now; how long to wait before the next read. Zero, unless event followed
  // event within kPause for a while; zero again once a read after a pause finds one at most.
  [[nodiscard]] base::Duration PauseAfter(base::TimePoint now, std::uint64_t events) {
    const bool close = paused_ ? events > 1 : events > 1 || now - last_ < kPause;
    in_a_row_ = close ? in_a_row_ + 1 : 0;
    last_ = now;
    paused_ = in_a_row_ >= kMany && events < kPlenty;
    return paused_ ? base::Duration(kPause) : base::Duration::zero();
  }

 private:
  static constexpr int kMany = 16;  // reads: a handful of changes at once is no crowd
  // So many were waiting that more must be: they are not left to wait.
  static constexpr std::uint64_t kPlenty = 64;

  base::TimePoint last_{};  // when the last read ended
  int in_a_row_ = 0;        // reads that found company
  bool paused_ = false;     // after the last read
};

}  // namespace informers
