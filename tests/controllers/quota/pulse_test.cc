#include "controllers/quota/pulse.h"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using controllers::Pulse;

TEST_CASE("pulse: events during a stop of the process count as shown only after it continued",
          "[controllers]") {
  const base::TimePoint start{100h};
  Pulse pulse(start);
  pulse.Beat(start + 250ms);
  pulse.Beat(start + 1s);
  CHECK(pulse.ShownAt(start + 1900ms, 3s) <= start);
  // Nothing ran for 20 s. A call before the next beat also reports that.
  CHECK(pulse.ShownAt(start + 21s, 3s) == start + 24s);
  pulse.Beat(start + 21s);
  CHECK(pulse.ShownAt(start + 21s, 3s) == start + 24s);
  for (auto now = start + 21s; now < start + 30s; now += 250ms) pulse.Beat(now);
  CHECK(pulse.ShownAt(start + 29s, 3s) == start + 24s);
}
