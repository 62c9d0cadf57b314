#pragma once

// Notices that the process was stopped for a while (SIGSTOP, an overloaded machine). Nothing ran
// then, and events of that time have not been read. When the process continues, requests and the
// end of a watch may be handled before any timer. So this compares the clock with the last beat.
// The end of a watch does not tell, because its time is the time when it is read.
//
// Call Beat() at least every kBeat. No I/O, single-threaded.

#include <chrono>

#include "pkg/base/clock.h"

namespace controllers {

class StallDetector {
 public:
  static constexpr std::chrono::milliseconds kBeat{250};
  // A busy process may be late by less than this.
  static constexpr std::chrono::seconds kStandstill{1};
  static_assert(kStandstill >= 2 * kBeat, "one beat that is late would be a standstill");

  explicit StallDetector(base::TimePoint now) : last_(now) {}

  void Beat(base::TimePoint now) {
    if (StandsStill(now)) went_on_ = now;
    last_ = now;
  }
  // Returns when the watches will have shown the missed events, if they need up to `patience` after
  // the process continues. In the past if there was no standstill lately.
  [[nodiscard]] base::TimePoint ShownAt(base::TimePoint now, base::Duration patience) const {
    return (StandsStill(now) ? now : went_on_) + patience;
  }

 private:
  [[nodiscard]] bool StandsStill(base::TimePoint now) const { return now - last_ >= kStandstill; }

  base::TimePoint last_;
  base::TimePoint went_on_{};
};

}  // namespace controllers
