#include "pkg/base/token_bucket.h"

#include <catch2/catch.hpp>

#include "pkg/base/clock.h"

namespace token_bucket_test {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""ms;

TEST_CASE("token bucket: the burst is free, then each call waits for its own token", "[base]") {
  base::ManualClock clock;
  base::TokenBucket bucket({.per_second = 10, .burst = 3});
  for (int i = 0; i < 3; ++i) CHECK(bucket.Reserve(clock.Now()) == 0ms);
  CHECK(bucket.Reserve(clock.Now()) == 100ms);
  CHECK(bucket.Reserve(clock.Now()) == 200ms);
  clock.Advance(300ms);  // both reserved tokens and one more
  CHECK(bucket.Reserve(clock.Now()) == 0ms);
  clock.Advance(1h);  // never more than the burst
  for (int i = 0; i < 3; ++i) CHECK(bucket.Reserve(clock.Now()) == 0ms);
  CHECK(bucket.Reserve(clock.Now()) > 0ms);
}

TEST_CASE("token bucket: waits end at what may be reserved ahead", "[base]") {
  base::TimePoint now{};
  base::TokenBucket bucket({.per_second = 2, .burst = 1, .most_ahead = 1});
  CHECK(bucket.Reserve(now) == 0ms);
  for (int i = 0; i < 3; ++i) CHECK(bucket.Reserve(now) == 500ms);
  CHECK(bucket.Reserve(now + 1000ms) == 0ms);
}

TEST_CASE("token bucket: a token is taken only if there are as many as needed", "[base]") {
  base::TimePoint now{};
  base::TokenBucket bucket({.per_second = 1, .burst = 3});
  CHECK(bucket.Take(now, 3));
  CHECK_FALSE(bucket.Take(now, 3));
  CHECK(bucket.Take(now));
  CHECK(bucket.Take(now));
  CHECK_FALSE(bucket.Take(now));
  CHECK(bucket.Take(now + 1000ms));
}

}  // namespace token_bucket_test
