#pragma once

// How long a failed key waits for its next try: the delay doubles per key (client-go v0.36.3,
// util/workqueue/default_rate_limiters.go). No I/O; one thread.

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
  // The delay after `failures` earlier failures in a row: `initial` for 0, then doubling up to the
  // cap.
  base::Duration After(int failures);

 private:
  RetryOptions options_;
  std::mt19937_64 random_;
};

}  // namespace queue
