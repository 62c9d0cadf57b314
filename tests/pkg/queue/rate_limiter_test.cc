#include "pkg/queue/rate_limiter.h"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;

TEST_CASE("retry delays: they double from 5 ms and reach the cap at the 19th failure", "[queue]") {
  queue::RetryDelays delays({});
  CHECK(delays.After(0) == 5ms);
  CHECK(delays.After(1) == 10ms);
  CHECK(delays.After(17) == 655'360ms);
  CHECK(delays.After(18) == 1000s);
  CHECK(delays.After(100'000) == 1000s);
}

TEST_CASE("retry delays: jitter only lengthens a delay", "[queue]") {
  queue::RetryDelays delays({.jitter = 0.5}, 7);
  bool stretched = false;
  for (int i = 0; i < 200; ++i) {
    const base::Duration delay = delays.After(3);
    CHECK(delay >= 40ms);
    CHECK(delay < 60ms);
    stretched = stretched || delay > 50ms;
  }
  CHECK(stretched);
}

TEST_CASE("token bucket: the burst is free, then each call waits for its own token", "[queue]") {
  base::ManualClock clock;
  queue::TokenBucket bucket({.per_second = 10, .burst = 3});
  for (int i = 0; i < 3; ++i) CHECK(bucket.Reserve(clock.Now()) == 0ms);
  CHECK(bucket.Reserve(clock.Now()) == 100ms);
  CHECK(bucket.Reserve(clock.Now()) == 200ms);
  clock.Advance(300ms);  // both reserved tokens and one more
  CHECK(bucket.Reserve(clock.Now()) == 0ms);
  clock.Advance(1h);  // never more than the burst
  for (int i = 0; i < 3; ++i) CHECK(bucket.Reserve(clock.Now()) == 0ms);
  CHECK(bucket.Reserve(clock.Now()) > 0ms);
}
