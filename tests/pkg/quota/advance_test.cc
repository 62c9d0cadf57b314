#include "pkg/quota/advance.h"

#include <catch2/catch.hpp>

#include "pkg/base/clock.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::advance_test {
namespace {

using namespace std::chrono_literals;

struct Crowd {
  base::ManualClock clock;
  Advance advance;
  ResourceList hard = List({{"pods", "10k"}, {"cpu", "1k"}});
  ResourceList used = List({{"pods", "0"}, {"cpu", "0"}});

  void Grant(std::size_t creations, const std::string& pods, const std::string& cpu) {
    advance.OnGranted(clock.Now(), List({{"pods", pods}, {"cpu", cpu}}), creations);
  }
  [[nodiscard]] std::string Next() const {
    return advance.Next(clock.Now(), hard, used).usage.ToString();
  }
  void Put(ResourceList usage) { advance.Put(clock.Now(), clock.Now(), {std::move(usage), 1}); }
  [[nodiscard]] std::string Usable() const { return advance.Usable(clock.Now()).ToString(); }
};

TEST_CASE("advance: as much is charged as comes within a quarter of a second", "[quota]") {
  Crowd c;
  c.Grant(10, "10", "1");
  c.clock.Advance(100ms);
  CHECK_FALSE(c.advance.WantsMore(c.clock.Now()));
  CHECK(c.Next().empty());
  c.Grant(10, "10", "1");
  CHECK(c.advance.WantsMore(c.clock.Now()));
  CHECK(c.Next() == "cpu=4,pods=40");
}

TEST_CASE("advance: one burst is no crowd, nor are those who come slowly", "[quota]") {
  Crowd c;
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

TEST_CASE(
    "advance: it grows by four at most, is for 256 creations, and for a sixteenth of what is left",
    "[quota]") {
  Crowd c;
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

TEST_CASE("advance: the oldest is granted first, and is as old as its charge", "[quota]") {
  Crowd c;
  const base::TimePoint first = c.clock.Now();
  c.Put(List({{"pods", "3"}}));
  c.clock.Advance(100ms);
  const base::TimePoint second = c.clock.Now();
  c.Put(List({{"pods", "5"}}));
  CHECK(c.Usable() == "pods=8");
  CHECK(c.advance.UsableSince(c.clock.Now()) == first);
  c.advance.Draw(c.clock.Now(), List({{"pods", "2"}}));
  CHECK(c.advance.UsableSince(c.clock.Now()) == first);
  c.advance.Draw(c.clock.Now(), List({{"pods", "2"}}));
  CHECK(c.advance.UsableSince(c.clock.Now()) == second);
  CHECK(c.Usable() == "pods=4");
  CHECK(Contains(c.advance.Usable(c.clock.Now()), List({{"pods", "4"}})));
  CHECK_FALSE(Contains(c.advance.Usable(c.clock.Now()), List({{"pods", "5"}})));
  CHECK_FALSE(Contains(c.advance.Usable(c.clock.Now()), List({{"cpu", "1m"}})));
}

TEST_CASE("advance: what is left is given back when it lies idle, and granted for two seconds",
          "[quota]") {
  Crowd c;
  c.Put(List({{"pods", "9"}}));
  CHECK(c.advance.NextCheck() == c.clock.Now() + 500ms);
  c.clock.Advance(499ms);
  c.advance.DropIdle(c.clock.Now());
  CHECK(c.advance.Left().ToString() == "pods=9");
  c.clock.Advance(1ms);
  c.advance.DropIdle(c.clock.Now());
  CHECK(c.advance.Left().empty());
  CHECK_FALSE(c.advance.NextCheck().has_value());

  c.Put(List({{"pods", "9"}}));
  for (int i = 0; i < 5; ++i) {
    c.clock.Advance(400ms);
    c.advance.Draw(c.clock.Now(), List({{"pods", "1"}}));
  }
  CHECK(c.Usable() == "pods=4");
  c.clock.Advance(1ms);
  CHECK(c.Usable().empty());
  CHECK(c.advance.Left().ToString() == "pods=4");
  c.advance.DropIdle(c.clock.Now());
  CHECK(c.advance.Left().empty());
}

TEST_CASE("advance: what was sent before others lowered used is not granted", "[quota]") {
  Crowd c;
  c.Put(List({{"pods", "9"}}));
  const base::TimePoint sent = c.clock.Now();
  c.clock.Advance(5ms);
  c.advance.OnLoweredByOthers(c.clock.Now());
  CHECK(c.advance.Left().empty());
  c.advance.Put(c.clock.Now(), sent, {List({{"pods", "9"}}), 9});
  CHECK(c.advance.Left().empty());
  c.clock.Advance(1ms);
  c.Put(List({{"pods", "9"}}));
  CHECK(c.Usable() == "pods=9");
}

TEST_CASE("advance: more is wanted once half of the last is granted", "[quota]") {
  Crowd c;
  c.Grant(20, "20", "2");
  c.clock.Advance(50ms);
  c.advance.Put(c.clock.Now(), c.clock.Now(), c.advance.Next(c.clock.Now(), c.hard, c.used));
  c.clock.Advance(20ms);
  c.Grant(39, "39", "3900m");
  CHECK_FALSE(c.advance.WantsMore(c.clock.Now()));
  c.Grant(1, "1", "100m");
  CHECK(c.advance.WantsMore(c.clock.Now()));
}

}  // namespace
}  // namespace quota::advance_test
