#include "pkg/accounting/write_turn.h"

#include <catch2/catch.hpp>

namespace accounting::write_turn_test {
namespace {

using namespace std::chrono_literals;

constexpr auto kTook = 10ms;
constexpr auto kPause = WriteTurn::kRoundTrips * kTook;

struct Turns {
  // The list that stands after these processes have written it.
  void OnList(const std::map<std::string, std::uint64_t>& latest) {
    ReservationList list;
    for (const auto& [by, n] : latest) list.entries().push_back({.by = by, .n = n});
    turn.OnList(now, list, "own");
  }
  void Write() { turn.OnWritten(now, kTook); }
  [[nodiscard]] bool Ours() const { return turn.Next(now) <= now; }

  WriteTurn turn;
  base::TimePoint now{1h};
};

}  // namespace

TEST_CASE("write turn: a process alone pauses only after some writes in a row", "[accounting]") {
  Turns t;
  for (int i = 0; i < WriteTurn::kInARow; ++i) {
    CHECK(t.Ours());
    t.Write();
    t.now += kTook;
  }
  CHECK_FALSE(t.Ours());
  t.now += kPause;
  CHECK(t.Ours());
  t.Write();
  CHECK(t.Ours());
}

TEST_CASE("write turn: writes with time between them are not in a row", "[accounting]") {
  Turns t;
  for (int i = 0; i < 3 * WriteTurn::kInARow; ++i) {
    CHECK(t.Ours());
    t.Write();
    t.now += kPause + kTook;
  }
}

TEST_CASE("write turn: after a write each of the others has a turn", "[accounting]") {
  Turns t;
  t.OnList({{"own", 1}, {"a", 1}, {"b", 1}});
  CHECK(t.Ours());
  t.Write();
  CHECK_FALSE(t.Ours());
  CHECK(t.turn.Next(t.now) == t.now + kTook);
  t.now += kTook;
  t.OnList({{"own", 2}, {"a", 2}, {"b", 1}});
  CHECK_FALSE(t.Ours());
  t.now += kTook;
  SECTION("until it has written") {
    t.OnList({{"own", 2}, {"b", 2}});  // the entries of `a` are over
    CHECK(t.Ours());
    t.Write();
    CHECK_FALSE(t.Ours());
  }
  SECTION("until it had the time to") {
    t.now += kPause;
    CHECK(t.Ours());
    t.now += kTook;
    t.Write();
    // `b` has nothing to write.
    t.OnList({{"own", 3}, {"a", 3}, {"b", 1}});
    CHECK(t.Ours());
  }
}

TEST_CASE("write turn: a process that wrote long ago has no turn", "[accounting]") {
  Turns t;
  t.OnList({{"a", 1}});
  t.now += WriteTurn::kRecent + 1ms;
  t.Write();
  CHECK(t.Ours());
  t.OnList({{"a", 1}});
  t.Write();
  CHECK(t.Ours());
}

TEST_CASE("write turn: a process that has reserved in advance needs no turn", "[accounting]") {
  Turns t;
  ReservationList list;
  list.entries().push_back({.by = "a", .n = 1});
  list.entries().push_back({.by = "a", .n = 2, .unassigned = 20});
  t.turn.OnList(t.now, list, "own");
  t.Write();
  CHECK(t.Ours());
  // Its next write has nothing in advance.
  t.OnList({{"own", 1}, {"a", 3}});
  t.Write();
  CHECK_FALSE(t.Ours());
}

TEST_CASE("write turn: slow round trips and made-up processes do not stop a process",
          "[accounting]") {
  Turns t;
  std::map<std::string, std::uint64_t> many;
  for (int i = 0; i < 1000; ++i) many["p" + std::to_string(i)] = 1;
  t.OnList(many);
  t.turn.OnWritten(t.now, 10s);
  CHECK_FALSE(t.Ours());
  t.now += WriteTurn::kRoundTrips * WriteTurn::kLongestRoundTrip;
  CHECK(t.Ours());
}

TEST_CASE("write turn: processes that are gone leave their places to others", "[accounting]") {
  Turns t;
  std::map<std::string, std::uint64_t> many;
  for (std::size_t i = 0; i < WriteTurn::kMostOthers; ++i) many["p" + std::to_string(i)] = 1;
  t.OnList(many);
  t.now += WriteTurn::kRecent;
  SECTION("not yet") {
    t.OnList({{"new", 1}});
    t.now += 1ms;
    t.Write();
    CHECK(t.Ours());
  }
  SECTION("after a second") {
    t.now += 1ms;
    t.OnList({{"new", 1}});
    t.Write();
    CHECK_FALSE(t.Ours());
  }
}

}  // namespace accounting::write_turn_test
