#pragma once

// The clocks that judge a certificate: ours and those of the API servers, which verify it. They may
// differ, and nobody knows which one is right. So a certificate is made for all of them: valid
// before the earliest, renewed by the latest.
//
// No I/O, one thread.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

#include "pkg/base/clock.h"

namespace webhook {

// What the clocks say now, from the earliest to the latest.
struct ClockRange {
  base::WallTime earliest;
  base::WallTime latest;
};

class SeenClocks {
 public:
  static constexpr std::chrono::seconds kTolerance{30};  // a Date is in seconds, and takes its time
  static constexpr std::chrono::hours kRemember{1};
  // A clock that is further away is left out. Otherwise an absurd one would cause certificates that
  // are valid for decades.
  static constexpr std::chrono::hours kBelieved{24 * 366};
  static constexpr std::size_t kMost = 16;

  enum class Seen { kSame, kDiffers, kUnbelievable };
  // An API server's clock was ahead of ours by this much.
  Seen See(base::TimePoint now, base::WallTime::duration ahead) {
    if (ahead > kBelieved || ahead < -kBelieved) return Seen::kUnbelievable;
    if (ahead <= kTolerance && ahead >= -kTolerance) return Seen::kSame;
    std::erase_if(seen_, [&](const Clock& clock) {
      return now - clock.at >= kRemember || std::chrono::abs(clock.ahead - ahead) <= kTolerance;
    });
    if (seen_.size() >= kMost) seen_.erase(seen_.begin());
    seen_.push_back({ahead, now});
    return Seen::kDiffers;
  }
  // Our clock, which says `own`, and those that were seen within kRemember.
  [[nodiscard]] ClockRange At(base::TimePoint now, base::WallTime own) const {
    ClockRange range{own, own};
    for (const Clock& clock : seen_) {
      if (now - clock.at >= kRemember) continue;
      range.earliest = std::min(range.earliest, own + clock.ahead);
      range.latest = std::max(range.latest, own + clock.ahead);
    }
    return range;
  }

 private:
  struct Clock {
    base::WallTime::duration ahead;
    base::TimePoint at;
  };
  std::vector<Clock> seen_;  // the newest last
};

}  // namespace webhook
