#include "pkg/webhook/seen_clocks.h"

#include <catch2/catch.hpp>

#include "pkg/webhook/repair_pace.h"

namespace seen_clocks_test {
namespace {

using namespace std::chrono_literals;
using webhook::RepairPace;
using webhook::SeenClocks;

constexpr base::TimePoint kNow{1000h};
const base::WallTime kOwn{24h * 365 * 56};

TEST_CASE("seen clocks: they range from the earliest to the latest, ours included", "[admission]") {
  SeenClocks clocks;
  CHECK(clocks.At(kNow, kOwn).earliest == kOwn);
  CHECK(clocks.See(kNow, 10s) == SeenClocks::Seen::kSame);
  CHECK(clocks.At(kNow, kOwn).latest == kOwn);
  CHECK(clocks.See(kNow, 5h) == SeenClocks::Seen::kDiffers);
  CHECK(clocks.See(kNow, 2h) == SeenClocks::Seen::kDiffers);
  CHECK(clocks.See(kNow, -70 * 24h) == SeenClocks::Seen::kDiffers);
  CHECK(clocks.At(kNow, kOwn).earliest == kOwn - 70 * 24h);
  CHECK(clocks.At(kNow, kOwn).latest == kOwn + 5h);
}

TEST_CASE("seen clocks: a clock is forgotten an hour after it was seen last", "[admission]") {
  SeenClocks clocks;
  clocks.See(kNow, 5h);
  clocks.See(kNow + 30min, 2h);
  CHECK(clocks.At(kNow + 59min, kOwn).latest == kOwn + 5h);
  CHECK(clocks.At(kNow + 1h, kOwn).latest == kOwn + 2h);
  CHECK(clocks.At(kNow + 2h, kOwn).latest == kOwn);
}

TEST_CASE("seen clocks: an absurd clock is left out, and many are bounded", "[admission]") {
  SeenClocks clocks;
  CHECK(clocks.See(kNow, 24h * 400) == SeenClocks::Seen::kUnbelievable);
  CHECK(clocks.See(kNow, 24h * -36500) == SeenClocks::Seen::kUnbelievable);
  CHECK(clocks.At(kNow, kOwn).latest == kOwn);
  for (int i = 1; i <= 1000; ++i) clocks.See(kNow, i * 1h);
  CHECK(clocks.At(kNow, kOwn).latest == kOwn + 1000h);
  for (int i = 1; i <= 16; ++i) clocks.See(kNow, i * 1h);
  CHECK(clocks.At(kNow, kOwn).latest == kOwn + 16h);
}

TEST_CASE("repair pace: hundreds are free, then there are two a second", "[admission]") {
  RepairPace pace({});
  base::TimePoint now = kNow;
  CHECK(pace.Changed(now, false) == now);
  CHECK(pace.Changed(now, false) == now + 50ms);
  now += 50ms;
  for (int i = 0; i < 330; ++i) {
    now += 50ms;
    CHECK(pace.Changed(now, false) == now);
  }
  const base::TimePoint used_up = now;
  for (int i = 0; i < 104; ++i) {
    const base::TimePoint at = pace.Changed(now, false);
    CHECK(at >= now);
    CHECK(at <= now + 500ms);
    now = std::max(at, now + 50ms);
  }
  CHECK(now >= used_up + 45s);
  CHECK(pace.Changed(now + 10min, false) == now + 10min);
}

TEST_CASE("repair pace: the CA of another daemon waits longer each time", "[admission]") {
  RepairPace pace({.initial = 100ms, .cap = 30s});
  base::TimePoint now = kNow;
  for (int i = 0; i < 12; ++i) now = pace.Changed(now, true);
  CHECK(pace.Changed(now, true) >= now + 15s);
  CHECK(pace.Changed(now, false) == now);  // but nothing else does
}

}  // namespace
}  // namespace seen_clocks_test
