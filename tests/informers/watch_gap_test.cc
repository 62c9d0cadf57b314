#include "informers/watch_gap.h"

#include <catch2/catch.hpp>

namespace watch_gap_test {

using namespace std::chrono_literals;
using informers::WatchGap;

namespace {

constexpr base::TimePoint kStart{1h};
constexpr base::TimePoint At(base::Duration after) { return kStart + after; }
constexpr base::TimePoint kNothingMissed{};

// A collection that was listed, and watched since.
WatchGap Watched() {
  WatchGap gap;
  gap.OnList(At(0s));
  gap.OnWatch(At(100ms));
  return gap;
}

}  // namespace

TEST_CASE("watch gap: a short gap hides nothing", "[informers]") {
  WatchGap gap = Watched();
  CHECK(gap.ShownAt(At(10s), 3s) == kNothingMissed);
  gap.OnWatchEnd(At(10s));
  CHECK(gap.ShownAt(At(10s + 999ms), 3s) == kNothingMissed);
  gap.OnWatch(At(10s + 999ms));
  CHECK(gap.ShownAt(At(11s), 3s) == kNothingMissed);
}

TEST_CASE("watch gap: events of a long gap arrive some time after the watch opens", "[informers]") {
  WatchGap gap = Watched();
  gap.OnWatchEnd(At(10s));
  CHECK(gap.ShownAt(At(11s), 3s) == At(14s));
  CHECK(gap.ShownAt(At(60s), 3s) == At(63s));
  gap.OnWatch(At(70s));
  CHECK(gap.ShownAt(At(70s), 3s) == At(73s));
  CHECK(gap.ShownAt(At(80s), 3s) == At(73s));
  CHECK(gap.ShownAt(At(80s), 1s) == At(71s));
}

TEST_CASE("watch gap: a watch that ends at once has delivered nothing", "[informers]") {
  WatchGap gap = Watched();
  gap.OnWatchEnd(At(10s));
  gap.OnWatch(At(10s + 500ms));
  gap.OnWatchEnd(At(10s + 700ms));
  CHECK(gap.ShownAt(At(11s), 3s) == At(14s));
  gap.OnWatch(At(12s));
  gap.OnWatchEnd(At(13s));  // this one was open for long enough
  CHECK(gap.ShownAt(At(13s + 500ms), 3s) == kNothingMissed);
}

TEST_CASE("watch gap: a list may be as old as its request", "[informers]") {
  WatchGap gap;
  CHECK(gap.ShownAt(At(10s), 3s) == kNothingMissed);  // before the first one
  gap.OnList(At(0s));
  gap.OnWatch(At(5s));
  CHECK(gap.ShownAt(At(5s), 3s) == At(8s));
}

}  // namespace watch_gap_test
