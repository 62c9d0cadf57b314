#pragma once

// The wait after the n-th failure in a row: it doubles, with jitter, as in client-go's reflector
// (v0.36.3, tools/cache/reflector.go). Each delay is drawn uniformly from [d, (1 + jitter) d). One
// thread.

#include <chrono>
#include <cstdint>
#include <random>

#include "pkg/base/clock.h"

namespace base {

struct BackoffOptions {
  std::chrono::milliseconds initial{800};
  double factor = 2.0;
  std::chrono::milliseconds cap{30'000};
  double jitter = 1.0;
  // If Next() was not called for so long, the delays start from `initial` again.
  std::chrono::milliseconds reset_after{120'000};
};

class Backoff {
 public:
  // `seed` makes the sequence repeatable in tests.
  explicit Backoff(BackoffOptions options, std::uint64_t seed = std::random_device{}());

  // Returns the next delay, never shorter than `floor` (a Retry-After).
  Duration Next(TimePoint now, Duration floor = Duration::zero());
  void Reset();

 private:
  BackoffOptions options_;
  std::mt19937_64 random_;
  std::chrono::duration<double, std::milli> next_;
  TimePoint last_asked_{};
};

}  // namespace base
