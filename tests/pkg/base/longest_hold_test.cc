#include "pkg/base/longest_hold.h"

#include <catch2/catch.hpp>

namespace longest_hold_test {

using namespace std::chrono_literals;
using base::LongestHold;

TEST_CASE("longest hold: the longest piece of work of each second is reported when it ends",
          "[base]") {
  const base::TimePoint start{1h};
  LongestHold hold(start);
  CHECK_FALSE(hold.OnWork(start, start + 3ms));
  CHECK_FALSE(hold.OnWork(start + 10ms, start + 11ms));
  CHECK(hold.OnWork(start + 999ms, start + 1001ms) == base::Duration(3ms));
  CHECK_FALSE(hold.OnWork(start + 1002ms, start + 1003ms));
  CHECK(hold.OnWork(start + 2500ms, start + 2501ms) == base::Duration(1ms));
}

TEST_CASE("longest hold: work of more than a second is reported when it ends", "[base]") {
  const base::TimePoint start{1h};
  LongestHold hold(start);
  CHECK(hold.OnWork(start, start + 4s) == base::Duration(4s));
}

}  // namespace longest_hold_test
