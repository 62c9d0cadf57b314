#include "pkg/base/backoff.h"

#include <catch2/catch.hpp>

namespace base::backoff_test {
namespace {

using namespace std::chrono_literals;

constexpr BackoffOptions kPlain{.initial = 100ms, .factor = 2.0, .cap = 1000ms, .jitter = 0};

TEST_CASE("backoff: delays double up to the cap", "[base]") {
  ManualClock clock;
  Backoff backoff(kPlain, 1);
  for (const Duration expected : {100ms, 200ms, 400ms, 800ms, 1000ms, 1000ms}) {
    CHECK(backoff.Next(clock.Now()) == expected);
  }
}

TEST_CASE("backoff: jitter lengthens a delay by less than its share", "[base]") {
  ManualClock clock;
  BackoffOptions options = kPlain;
  options.factor = 1.0;
  options.jitter = 0.5;
  Backoff backoff(options, 7);
  Duration shortest = Duration::max();
  Duration longest = Duration::zero();
  for (int i = 0; i < 1000; ++i) {
    const Duration delay = backoff.Next(clock.Now());
    shortest = std::min(shortest, delay);
    longest = std::max(longest, delay);
  }
  CHECK(shortest >= 100ms);
  CHECK(shortest < 105ms);
  CHECK(longest > 145ms);
  CHECK(longest < 150ms);
}

TEST_CASE("backoff: a floor lengthens one delay and not the next ones", "[base]") {
  ManualClock clock;
  Backoff backoff(kPlain, 1);
  CHECK(backoff.Next(clock.Now(), 5s) == 5s);
  CHECK(backoff.Next(clock.Now(), 1ms) == 200ms);
}

TEST_CASE("backoff: it starts again after a quiet time or a reset", "[base]") {
  ManualClock clock;
  Backoff backoff(kPlain, 1);
  backoff.Next(clock.Now());
  backoff.Next(clock.Now());
  clock.Advance(kPlain.reset_after);
  CHECK(backoff.Next(clock.Now()) == 400ms);
  clock.Advance(kPlain.reset_after + 1ms);
  CHECK(backoff.Next(clock.Now()) == 100ms);
  CHECK(backoff.Next(clock.Now()) == 200ms);
  backoff.Reset();
  CHECK(backoff.Next(clock.Now()) == 100ms);
}

TEST_CASE("backoff: equal seeds give equal delays", "[base]") {
  ManualClock clock;
  Backoff one(BackoffOptions{}, 42);
  Backoff same(BackoffOptions{}, 42);
  Backoff other(BackoffOptions{}, 43);
  const Duration first = one.Next(clock.Now());
  CHECK(first == same.Next(clock.Now()));
  CHECK(first != other.Next(clock.Now()));
}

}  // namespace
}  // namespace base::backoff_test
