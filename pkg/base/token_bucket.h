#pragma once

// A budget of operations that refills with time. Time is a parameter; one thread.

#include <algorithm>
#include <chrono>
#include <limits>

#include "pkg/base/clock.h"

namespace base {

struct BucketOptions {
  double per_second = 10.0;
  double burst = 100.0;
  // How many tokens can be reserved before they exist.
  double most_ahead = std::numeric_limits<double>::infinity();
};

class TokenBucket {
 public:
  explicit TokenBucket(BucketOptions options) : options_(options), tokens_(options.burst) {}

  // Reserves a token, and returns how long until it exists. A caller above `most_ahead` waits no
  // longer than the one before.
  Duration Reserve(TimePoint now) {
    Refill(now);
    tokens_ = std::max(tokens_ - 1.0, -options_.most_ahead);
    if (tokens_ >= 0) return Duration::zero();
    return std::chrono::duration_cast<Duration>(Seconds(-tokens_ / options_.per_second));
  }

  // Takes a token if there are at least `needed`. REQUIRES: needed >= 1.
  bool Take(TimePoint now, double needed = 1.0) {
    Refill(now);
    if (tokens_ < needed) return false;
    tokens_ -= 1.0;
    return true;
  }

 private:
  using Seconds = std::chrono::duration<double>;

  void Refill(TimePoint now) {
    if (now <= filled_at_) return;
    const double earned = Seconds(now - filled_at_).count() * options_.per_second;
    tokens_ = std::min(options_.burst, tokens_ + earned);
    filled_at_ = now;
  }

  BucketOptions options_;
  double tokens_;  // below zero: tokens are reserved ahead of time
  TimePoint filled_at_{};
};

}  // namespace base
