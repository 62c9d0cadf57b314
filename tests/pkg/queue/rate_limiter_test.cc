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
