#pragma once

// How long a key that failed waits for its next try: doubling per key, and on request a token
// bucket over all keys (client-go v0.36.3, util/workqueue/default_rate_limiters.go). No I/O, time
// is handed in. One thread.

#include <chrono>
#include <cstdint>
#include <random>

#include "pkg/base/clock.h"

namespace queue {

struct RetryOptions {
  std::chrono::milliseconds initial{5};
  std::chrono::milliseconds cap{1'000'000};
  double jitter = 0.0;  // each delay is drawn from [d, (1 + jitter) d)
};

class RetryDelays {
 public:
  // `seed` makes the sequence repeatable in tests.
  explicit RetryDelays(RetryOptions options, std::uint64_t seed = std::random_device{}());
  // The delay after `failures` earlier failures in a row: initial for 0, then doubling to the cap.
  base::Duration After(int failures);

 private:
  RetryOptions options_;
  std::mt19937_64 random_;
};

struct BucketOptions {
  double per_second = 10.0;
  double burst = 100.0;
};

// Reserves: a call always takes a token, and says how long until that token exists.
class TokenBucket {
 public:
  explicit TokenBucket(BucketOptions options) : options_(options), tokens_(options.burst) {}
  base::Duration Reserve(base::TimePoint now);

 private:
  BucketOptions options_;
  double tokens_;  // below zero: taken in advance
  base::TimePoint filled_at_{};
};

}  // namespace queue
