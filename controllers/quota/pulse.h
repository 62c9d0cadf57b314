#pragma once

// Notices that the process stood still (SIGSTOP, a starved machine): nothing ran, and what was
// stored meanwhile is yet to be shown. When the process goes on, requests and the end of a watch
// come before anything tells that time has passed: so it is asked of the clock and the last beat,
// and a watch that ended is no older than the moment its end is read.
//
// Beat() at least every kBeat. No I/O, single-threaded.

#include <chrono>

#include "pkg/base/clock.h"

namespace controllers {

class Pulse {
 public:
  static constexpr std::chrono::milliseconds kBeat{250};
  // Less is what any busy process may take.
  static constexpr std::chrono::seconds kStandstill{1};

  explicit Pulse(base::TimePoint now) : last_(now) {}

  void Beat(base::TimePoint now) {
    if (StandsStill(now)) went_on_ = now;
    last_ = now;
  }
  // When the watches will have shown what happened meanwhile, if they take up to `patience` from
  // when the process goes on. Long ago if it has not stood still of late.
  [[nodiscard]] base::TimePoint ShownAt(base::TimePoint now, base::Duration patience) const {
    return (StandsStill(now) ? now : went_on_) + patience;
  }

 private:
  [[nodiscard]] bool StandsStill(base::TimePoint now) const { return now - last_ >= kStandstill; }

  base::TimePoint last_;
  base::TimePoint went_on_{};
};

}  // namespace controllers
