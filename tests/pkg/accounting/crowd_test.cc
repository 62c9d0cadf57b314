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
  [[nodiscard]] std::string Next() const {
    return crowd.Next(clock.Now(), hard, used).usage.ToString();
  }
};

TEST_CASE("crowd: a burst is for the creations of a quarter of a second", "[accounting]") {
  Creations c;
  c.Grant(10, "10", "1");
  c.clock.Advance(100ms);
  CHECK(c.Next().empty());
  c.Grant(10, "10", "1");
  CHECK(c.Next() == "cpu=4,pods=40");
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
  CHECK(c.Next() == "cpu=20,pods=200");
  c.used = List({{"pods", "0"}, {"cpu", "700"}});
  CHECK(c.Next().empty());  // a sixteenth of 300 is less than 20
  c.used = List({{"pods", "0"}, {"cpu", "680"}});
  CHECK(c.Next() == "cpu=20,pods=200");
  c.hard.Erase("cpu");
  CHECK(c.Next().empty());
}

TEST_CASE("crowd: the next burst is reserved when half of the last is used", "[accounting]") {
  Creations c;
  c.Grant(20, "20", "2");
  c.clock.Advance(50ms);
  const NextBurst next = c.crowd.Next(c.clock.Now(), c.hard, c.used);
  CHECK(next.creations == 80);
  c.crowd.OnReserved(c.clock.Now(), next.creations);
  c.clock.Advance(20ms);
  c.Grant(39, "39", "3900m");
  CHECK(c.Next().empty());
  c.Grant(1, "1", "100m");
  CHECK_FALSE(c.Next().empty());
}

}  // namespace
}  // namespace accounting::crowd_test
