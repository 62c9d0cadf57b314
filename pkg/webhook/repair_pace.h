#pragma once

// Decides how soon somebody's change of the webhook configuration is repaired. At once, because
// until then limits may not be enforced; but a fight without end must not load the API server for
// ever. So a few hundred repairs are free, 20 a second at most (two replicas with different flags
// would otherwise answer each other within milliseconds), and after them there are two a second.
// Nothing waits longer than half a second.
//
// A daemon with a CA of its own is another matter: both would repair each other's bundle for ever,
// and neither is right. So repairs of such a change wait longer each time, up to half a minute.
//
// No I/O, one thread.

#include <algorithm>
#include <chrono>

#include "pkg/base/backoff.h"
#include "pkg/base/clock.h"
#include "pkg/base/token_bucket.h"

namespace webhook {

class RepairPace {
 public:
  static constexpr double kFree = 300;
  static constexpr double kPerSecond = 2;
  static constexpr std::chrono::milliseconds kApart{50};

  explicit RepairPace(base::BackoffOptions other_ca) : other_ca_(other_ca) {}

  // Somebody changed a correct object now. Returns when to repair it.
  base::TimePoint Changed(base::TimePoint now, bool only_other_ca) {
    if (only_other_ca) return now + other_ca_.Next(now);
    other_ca_.Reset();
    last_ = std::max(now + left_.Reserve(now), last_ + kApart);
    return last_;
  }

 private:
  base::Backoff other_ca_;
  base::TokenBucket left_{{.per_second = kPerSecond, .burst = kFree, .most_ahead = 1}};
  base::TimePoint last_{};  // repair
};

}  // namespace webhook
