#include "pkg/accounting/crowd.h"

#include <catch2/catch.hpp>

#include "pkg/base/clock.h"
#include "tests/pkg/quota/quota_testing.h"

namespace accounting::crowd_test {
namespace {

using namespace std::chrono_literals;
using quota::List;

struct Creations {
  base::ManualClock clock;
  Crowd crowd{CrowdOptions()};
  ResourceList hard = List({{"pods", "10k"}, {"cpu", "1k"}});
  ResourceList used = List({{"pods", "0"}, {"cpu", "0"}});

  void Grant(std::size_t creations, const std::string& pods, const std::string& cpu) {
    crowd.OnGranted(clock.Now(), List({{"pods", pods}, {"cpu", cpu}}), creations);
  }
  [[nodiscard]] std::string Next(std::size_t batch = 1) const {
    return crowd.Next(clock.Now(), hard, used, batch).usage.ToString();
  }
};

TEST_CASE("crowd: a burst is for the creations of a quarter of a second", "[accounting]") {
  Creations c;
  c.Grant(10, "10", "1");
  c.clock.Advance(100ms);
  CHECK(c.Next().empty());
  c.Grant(10, "10", "1");
  CHECK(c.Next() == "cpu=5,pods=50");
}

TEST_CASE("crowd: neither one burst nor slow creations are a crowd", "[accounting]") {
  Creations c;
  c.Grant(100, "100", "10");
  CHECK(c.Next().empty());
  c.clock.Advance(251ms);
  c.Grant(1, "1", "100m");
  CHECK(c.Next().empty());
  for (int i = 0; i < 20; ++i) {
    c.clock.Advance(20ms);
    c.Grant(1, "1", "100m");
  }
  CHECK(c.Next().empty());
}

TEST_CASE("crowd: a burst is bounded: 4 times the recent, 256 creations, 1/16 of the free amount",
          "[accounting]") {
  Creations c;
  c.Grant(20, "20", "2");
  c.clock.Advance(10ms);
  CHECK(c.Next() == "cpu=8,pods=80");
  c.Grant(180, "180", "18");
  CHECK(c.Next() == "cpu=26,pods=256");
  c.used = List({{"pods", "0"}, {"cpu", "680"}});
  CHECK(c.Next() == "cpu=13,pods=128");  // a sixteenth of 320 is less than 26
  c.used = List({{"pods", "0"}, {"cpu", "974"}});
  CHECK(c.Next().empty());  // less than a crowd
  c.hard.Erase("cpu");
  CHECK(c.Next().empty());
}

TEST_CASE("crowd: amounts are rounded up to what their names may have", "[accounting]") {
  Creations c;
  c.Grant(16, "16", "1601m");
  c.clock.Advance(220ms);
  CHECK(c.Next() == "cpu=1802m,pods=18");
}

TEST_CASE("crowd: unlimited amounts stay unlimited", "[accounting]") {
  Creations c;
  c.hard = List({{"pods", "10k"}, {"cpu", "1e30"}});
  c.Grant(16, "16", "1e30");
  c.clock.Advance(220ms);
  CHECK(c.Next() == "cpu=1e30,pods=18");
}

TEST_CASE("crowd: the next burst is reserved when half of the last is used", "[accounting]") {
  Creations c;
  c.Grant(20, "20", "2");
  c.clock.Advance(50ms);
  const NextBurst next = c.crowd.Next(c.clock.Now(), c.hard, c.used, 1);
  CHECK(next.creations == 80);
  c.crowd.OnReserved(c.clock.Now(), next.creations, next.covers);
  c.clock.Advance(20ms);
  c.Grant(39, "39", "3900m");
  CHECK(c.Next().empty());
  c.Grant(1, "1", "100m");
  CHECK_FALSE(c.Next().empty());
}

TEST_CASE("crowd: the rate is known when a burst is used up", "[accounting]") {
  Creations c;
  // 160 creations a second, and all are granted from bursts.
  for (int i = 0; i < 40; ++i) {
    c.clock.Advance(25ms);
    c.Grant(4, "4", "400m");
    if (i % 11 == 10) {
      const NextBurst next = c.crowd.Next(c.clock.Now(), c.hard, c.used, 1);
      CHECK(next.creations >= 40);
      CHECK(next.creations <= 44);
      c.crowd.OnReserved(c.clock.Now(), next.creations, next.covers);
    }
  }
}

TEST_CASE("crowd: a burst that was too large does not keep the next ones away", "[accounting]") {
  Creations c;
  c.Grant(50, "50", "5");
  c.clock.Advance(50ms);
  const NextBurst large = c.crowd.Next(c.clock.Now(), c.hard, c.used, 1);
  CHECK(large.creations == 200);
  c.crowd.OnReserved(c.clock.Now(), large.creations, large.covers);
  for (int i = 0; i < 20; ++i) {
    CHECK(c.Next().empty());
    c.clock.Advance(12ms);
    c.Grant(1, "1", "100m");
  }
  c.clock.Advance(12ms);
  c.Grant(1, "1", "100m");
  CHECK(c.crowd.Next(c.clock.Now(), c.hard, c.used, 1).creations >= 20);
}

TEST_CASE("crowd: it is over after a pause", "[accounting]") {
  Creations c;
  for (int i = 0; i < 20; ++i) {
    c.clock.Advance(20ms);
    c.Grant(2, "2", "200m");
  }
  CHECK_FALSE(c.Next().empty());
  c.clock.Advance(251ms);
  c.Grant(2, "2", "200m");
  c.clock.Advance(10ms);
  CHECK(c.Next().empty());
}

// Many quotas share a crowd: each gets two creations a second.
TEST_CASE("crowd: in a large batch, a quota with few creations gets a burst for two seconds",
          "[accounting]") {
  Creations c;
  for (int i = 0; i < 9; ++i) {
    if (i > 0) c.clock.Advance(500ms);
    c.Grant(1, "1", "100m");
  }
  CHECK(c.Next(15).empty());
  CHECK(c.Next(16) == "cpu=400m,pods=4");
  const NextBurst next = c.crowd.Next(c.clock.Now(), c.hard, c.used, 16);
  CHECK(next.creations == 4);
  CHECK(next.covers == 2s);
  CHECK(next.lasts == kLongBurstLasts);
  c.crowd.OnReserved(c.clock.Now(), next.creations, next.covers);
  c.Grant(1, "1", "100m");
  CHECK(c.Next(16).empty());  // more than half of it is left
  c.Grant(1, "1", "100m");
  CHECK_FALSE(c.Next(16).empty());
}

TEST_CASE("crowd: a first creation in a large batch expects no other", "[accounting]") {
  Creations c;
  c.Grant(1, "1", "100m");
  CHECK(c.Next(64).empty());
  c.clock.Advance(5s);
  c.Grant(1, "1", "100m");
  CHECK(c.Next(64).empty());
}

TEST_CASE("crowd: a long burst is bounded by what is free, down to one creation", "[accounting]") {
  Creations c;
  c.Grant(1, "1", "100m");
  c.clock.Advance(500ms);
  c.Grant(1, "1", "100m");
  CHECK(c.Next(16) == "cpu=200m,pods=2");  // as many as arrived
  c.hard = List({{"pods", "16"}, {"cpu", "1k"}});
  CHECK(c.Next(16) == "cpu=100m,pods=1");
  c.hard = List({{"pods", "15"}, {"cpu", "1k"}});
  CHECK(c.Next(16).empty());
}

TEST_CASE("crowd: a crowd of the quota's own has a short burst, also in a large batch",
          "[accounting]") {
  Creations c;
  c.Grant(40, "40", "4");
  c.clock.Advance(100ms);
  const NextBurst next = c.crowd.Next(c.clock.Now(), c.hard, c.used, 64);
  CHECK(next.creations == 100);
  CHECK(next.lasts == kBurstLasts);
}

// It would be used up by its own crowd at once, or refuse the crowd of another replica.
TEST_CASE("crowd: near its limit, a quota with a crowd of its own gets no burst at all",
          "[accounting]") {
  Creations c;
  c.hard = List({{"pods", "200"}, {"cpu", "1k"}});
  c.Grant(40, "40", "4");
  c.clock.Advance(100ms);
  CHECK(c.Next(64).empty());
}

TEST_CASE("crowd: no bursts at all", "[accounting]") {
  Creations c;
  c.crowd = Crowd({.crowd = 0});
  c.Grant(40, "40", "4");
  c.clock.Advance(100ms);
  CHECK(c.Next(64).empty());
}

}  // namespace
}  // namespace accounting::crowd_test
