#include "pkg/accounting/write_pace.h"

#include <catch2/catch.hpp>
#include <random>

namespace write_pace_test {

using accounting::Bounds;
using accounting::WritePace;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

TEST_CASE("write pace: the longest lists make at most 79 MB of revisions in five minutes",
          "[accounting]") {
  std::mt19937_64 random(5);
  WritePace pace;
  const base::TimePoint begin = base::TimePoint{} + 100s;
  std::size_t bytes = 0;
  base::Duration longest_wait{};
  // Admission writes as soon as it may, and so does the leader's recount.
  for (base::TimePoint now = begin; now < begin + 300s;) {
    const std::size_t size = Bounds().bytes - random() % 1000;
    pace.OnWrite(now, size);
    bytes += size;
    if (pace.ForRecount() <= now) {
      pace.OnWrite(now, size);
      bytes += size;
    }
    const base::TimePoint next = std::max(now, pace.ForAdmission());
    longest_wait = std::max(longest_wait, next - now);
    now = next + 1ms;
  }
  CHECK(bytes > std::size_t{70} * 1'000'000);
  CHECK(bytes <= std::size_t{79'500'000});
  CHECK(longest_wait > 200ms);
  CHECK(longest_wait <= WritePace::kLongestWait);
}

TEST_CASE("write pace: short lists do not wait", "[accounting]") {
  WritePace pace;
  base::TimePoint now = base::TimePoint{} + 100s;
  for (int i = 0; i < 10'000; ++i) {
    CHECK(pace.ForAdmission() <= now);
    CHECK(pace.ForRecount() <= now);
    pace.OnWrite(now, 1'200);
    now += 5ms;
  }
}

TEST_CASE("write pace: a recount may follow each write of admission", "[accounting]") {
  WritePace pace;
  base::TimePoint now = base::TimePoint{} + 100s;
  for (int i = 0; i < 100; ++i) {
    now = std::max(now, pace.ForAdmission());
    pace.OnWrite(now, Bounds().bytes);
    CHECK(pace.ForRecount() <= now);
    pace.OnWrite(now, Bounds().bytes);
  }
}

}  // namespace write_pace_test
