#include "controllers/usage/shown_versions.h"

#include <catch2/catch.hpp>
#include <string>

namespace shown_versions_test {

using namespace std::chrono_literals;
using controllers::RecentVersions;
using quota::Uid;

namespace {

const Uid kA{1};
const Uid kB{2};
const base::TimePoint kStart{1h};

}  // namespace

TEST_CASE("recent versions: a version before the last change has a later one", "[controllers]") {
  RecentVersions recent(30s);
  recent.OnChanged(kStart, kA, "99");
  recent.OnChanged(kStart, kA, "100");
  CHECK(recent.HasLater(kStart, kA, "99"));
  CHECK_FALSE(recent.HasLater(kStart, kA, "100"));
  CHECK_FALSE(recent.HasLater(kStart, kA, "101"));  // the watch lags
  CHECK_FALSE(recent.HasLater(kStart, kB, "1"));
}

TEST_CASE("recent versions: old changes are forgotten", "[controllers]") {
  RecentVersions recent(30s);
  recent.OnChanged(kStart, kA, "100");
  CHECK(recent.HasLater(kStart + 29s, kA, "7"));
  CHECK_FALSE(recent.HasLater(kStart + 30s, kA, "7"));
  recent.OnChanged(kStart + 30s, kB, "101");
  CHECK(recent.size() == 1);
}

TEST_CASE("recent versions: an object that changes again is kept", "[controllers]") {
  RecentVersions recent(30s);
  recent.OnChanged(kStart, kA, "100");
  recent.OnChanged(kStart + 20s, kA, "200");
  recent.OnChanged(kStart + 40s, kB, "300");
  CHECK(recent.HasLater(kStart + 40s, kA, "199"));
}

TEST_CASE("recent versions: versions that are not numbers are not compared", "[controllers]") {
  RecentVersions recent(30s);
  recent.OnChanged(kStart, kA, "100");
  for (const char* version : {"", "7a", "-7", "0x7", " 7", "99999999999999999999999"}) {
    CHECK_FALSE(recent.HasLater(kStart, kA, version));
  }
  recent.OnChanged(kStart, kA, "v100");
  CHECK_FALSE(recent.HasLater(kStart, kA, "7"));
}

TEST_CASE("recent versions: only the latest changes are kept, up to the bound", "[controllers]") {
  RecentVersions recent(30s);
  for (std::uint64_t i = 0; i <= RecentVersions::kMost; ++i) {
    recent.OnChanged(kStart, {i}, std::to_string(1000 + i));
  }
  CHECK(recent.size() == RecentVersions::kMost);
  CHECK_FALSE(recent.HasLater(kStart, {0}, "1"));
  CHECK(recent.HasLater(kStart, {RecentVersions::kMost}, "1"));
}

TEST_CASE("shown versions: a list forgets deletions and how far the watch had come",
          "[controllers]") {
  base::ManualClock clock;
  controllers::ShownVersions shown(clock);
  shown.OnListBegins();
  shown.OnShown("100");
  const base::TimePoint began = clock.Now();
  CHECK(shown.listed_since() == base::TimePoint{});
  clock.Advance(1s);
  shown.OnListEnds();
  CHECK(shown.listed_since() == began);
  shown.OnDeleted(kA, "120");
  shown.OnShown("110");
  shown.OnChanged(kB, "110");
  CHECK(shown.newest() == "120");
  CHECK(shown.IsGone(kA));
  CHECK_FALSE(shown.IsGone(kB));
  CHECK(shown.HasLater(kB, "109"));
  shown.OnListBegins();
  CHECK(shown.newest().empty());
  CHECK_FALSE(shown.IsGone(kA));
  CHECK(shown.listed_since() == began);  // until the list ends
  CHECK(shown.HasLater(kB, "109"));
  shown.OnRelist();
  CHECK_FALSE(shown.HasLater(kB, "109"));
}

}  // namespace shown_versions_test
