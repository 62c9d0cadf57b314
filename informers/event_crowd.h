#pragma once

// Decides when to delay the next read of a watch. A single event is read at once. When hundreds
// arrive each second, waking up for each one costs more than handling it, so the events of a few
// milliseconds are read together. No I/O, one thread.

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "pkg/base/clock.h"

namespace informers {

class EventCrowd {
 public:
  static constexpr std::chrono::milliseconds kPause{4};

  // Call after a read that brought `events` and `bytes`. Returns how long to wait before the next
  // read. The wait is zero unless, for kMany reads in a row, each read found several events or came
  // less than kPause after the one before. It is zero again after a pause that collected one event
  // at most.
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
  static constexpr int kMany = 16;  // reads in a row; a few changes at once need no pauses
  // A read with so many events means that more are waiting: read on without a pause.
  static constexpr std::uint64_t kPlenty = 64;
  // Half of what one read can hold. Large events reach this before kPlenty.
  static constexpr std::size_t kPlentyBytes = std::size_t{32} << 10;

  base::TimePoint last_{};  // when the last read ended
  int in_a_row_ = 0;        // reads that found several events, or came soon after the last
  bool paused_ = false;     // the last read was followed by a pause
};

}  // namespace informers
