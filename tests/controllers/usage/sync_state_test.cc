#include "controllers/usage/sync_state.h"

#include <catch2/catch.hpp>

#include "pkg/accounting/timing.h"

namespace completeness_test {

using namespace std::chrono_literals;
using controllers::SyncState;

namespace {

const base::TimePoint kNow{1h};

struct Fixture {
  Fixture() {
    completeness.OnListBegins();
    completeness.OnListEnds();
  }
  [[nodiscard]] bool IsBehind(const std::string& version = "10", base::TimePoint now = kNow) const {
    informers::ReflectorState state;
    state.resource_version = version;
    return completeness.BehindUntil(now, state) > now;
  }
  SyncState completeness;
};

}  // namespace

TEST_CASE("completeness: a watch is behind until an awaited version is shown", "[controllers]") {
  Fixture f;
  CHECK_FALSE(f.IsBehind());
  f.completeness.Await(kNow, "20");
  CHECK(f.IsBehind());
  CHECK_FALSE(f.completeness.OnShown("19"));
  CHECK(f.IsBehind());
  SECTION("by an event") {
    CHECK(f.completeness.OnShown("20"));
    CHECK_FALSE(f.completeness.OnShown("21"));  // reported once
    CHECK_FALSE(f.IsBehind());
  }
  SECTION("by a bookmark") { CHECK_FALSE(f.IsBehind("20")); }
  SECTION("by a new list") {
    f.completeness.OnListBegins();
    CHECK_FALSE(f.IsBehind());
  }
  SECTION("but not for ever") {
    const base::TimePoint end = kNow + accounting::kAwaitsShown;
    f.completeness.Await(kNow + 1s, "20");
    CHECK(f.IsBehind("10", end - 1ms));
    CHECK_FALSE(f.IsBehind("10", end));
    f.completeness.Await(end, "21");
    CHECK(f.IsBehind("10", end));
  }
}

TEST_CASE("completeness: the newest of several awaited versions counts", "[controllers]") {
  Fixture f;
  f.completeness.Await(kNow, "20");
  f.completeness.Await(kNow, "30");
  f.completeness.Await(kNow, "25");
  CHECK_FALSE(f.completeness.OnShown("29"));
  CHECK(f.completeness.OnShown("30"));
}

TEST_CASE("completeness: nobody waits for a version that is not a number", "[controllers]") {
  Fixture f;
  f.completeness.Await(kNow, "v20");
  f.completeness.Await(kNow, "");
  CHECK_FALSE(f.IsBehind());
}

}  // namespace completeness_test
