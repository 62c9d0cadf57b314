#include "controllers/usage/stall_detector.h"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using controllers::StallDetector;

TEST_CASE("stalls: events during a stop of the process count as shown only after it continued",
          "[controllers]") {
  const base::TimePoint start{100h};
  StallDetector stalls(start);
  stalls.Beat(start + 250ms);
  stalls.Beat(start + 1s);
  CHECK(stalls.ShownAt(start + 1900ms, 3s) <= start);
  // Nothing ran for 20 s. A call before the next beat also reports that.
  CHECK(stalls.ShownAt(start + 21s, 3s) == start + 24s);
  stalls.Beat(start + 21s);
  CHECK(stalls.ShownAt(start + 21s, 3s) == start + 24s);
  for (auto now = start + 21s; now < start + 30s; now += 250ms) stalls.Beat(now);
  CHECK(stalls.ShownAt(start + 29s, 3s) == start + 24s);
}
