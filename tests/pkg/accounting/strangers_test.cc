#include "pkg/accounting/strangers.h"

#include <catch2/catch.hpp>

#include "pkg/accounting/timing.h"
#include "tests/pkg/accounting/accounting_fixture.h"

namespace strangers_test {

using namespace accounting_test;
using accounting::Strangers;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

constexpr auto kHold = 10s;

ResourceList Nothing() { return {}; }
Strangers::Counted Counted(int pods) {
  return [pods] { return Pods(pods); };
}
Strangers::ShownUntil ShownUntil(base::TimePoint until) {
  return [until](std::string_view) { return until; };
}

TEST_CASE("strangers: an amount above our last write is held until objects appear",
          "[accounting]") {
  Strangers strangers;
  const base::TimePoint now{};
  ReservationList list;
  list.used = Pods(5);
  strangers.OnStatus(now, Pods(5), &list, false, Nothing);
  CHECK(strangers.Held().empty());
  strangers.OnStatus(now, Pods(8), &list, false, Nothing);
  CHECK(strangers.Held() == Pods(3));
  strangers.OnStatus(now, Pods(8), &list, false, Nothing);
  CHECK(strangers.Held() == Pods(3));
  strangers.OnAppeared(Pods(2));
  CHECK(strangers.Held() == Pods(1));
  strangers.Expire(now + kHold, kHold, ShownUntil(now + kHold));
  CHECK(strangers.Held().empty());
}

TEST_CASE("strangers: a rise is not held for an object that was shown before it", "[accounting]") {
  Strangers strangers;
  ReservationList list;
  list.used = Pods(11);
  strangers.OnStatus({}, Pods(11), &list, false, Counted(11));
  strangers.OnStatus({}, Pods(13), &list, false, Counted(12));
  CHECK(strangers.Held() == Pods(1));
  strangers.OnStatus({}, Pods(14), &list, false, Counted(13));
  CHECK(strangers.Held() == Pods(1));
  strangers.OnAppeared(Pods(1));
  CHECK(strangers.Held().empty());
}

TEST_CASE("strangers: a rise is held once a list has an entry for the object that seemed to be it",
          "[accounting]") {
  Strangers strangers;
  ReservationList list;
  list.used = Pods(5);
  strangers.OnStatus({}, Pods(5), &list, false, Counted(5));
  // The object of an entry is shown, then the rise of a stranger, then the entry.
  strangers.OnStatus({}, Pods(6), &list, false, Counted(6));
  CHECK(strangers.Held().empty());
  list.used = Pods(7);
  ++list.writes;
  SECTION("soon") {
    strangers.OnStatus(base::TimePoint{} + 1s, Pods(7), &list, false, Counted(6));
    CHECK(strangers.Held() == Pods(1));
    ++list.writes;
    strangers.OnStatus(base::TimePoint{} + 1s, Pods(7), &list, false, Counted(6));
    CHECK(strangers.Held() == Pods(1));  // and only once
  }
  SECTION("the entry is for an object that is not shown yet") {
    strangers.OnStatus(base::TimePoint{} + 1s, Pods(7), &list, false, Counted(7));
    CHECK(strangers.Held().empty());
  }
  SECTION("when the watch of quotas must have shown it before") {
    strangers.OnStatus(base::TimePoint{} + accounting::kCatchesUp, Pods(7), &list, false,
                       Counted(6));
    CHECK(strangers.Held().empty());
  }
}

TEST_CASE("strangers: rises that were passed over are kept together when they are many",
          "[accounting]") {
  Strangers strangers;
  ReservationList list;
  list.used = Pods(0);
  strangers.OnStatus({}, Pods(0), &list, false, Nothing);
  for (int i = 1; i <= 50; ++i) strangers.OnStatus({}, Pods(i), &list, false, Counted(i));
  ++list.writes;
  list.used = Pods(100);
  strangers.OnStatus({}, Pods(100), &list, false, Counted(50));
  CHECK(strangers.Held() == Pods(50));
}

TEST_CASE("strangers: rises that were passed over grow old, however many follow", "[accounting]") {
  Strangers strangers;
  ReservationList list;
  list.used = Pods(0);
  strangers.OnStatus({}, Pods(0), &list, false, Nothing);
  base::TimePoint now{};
  for (int i = 1; i <= 100; ++i, now += 100ms) {
    strangers.OnStatus(now, Pods(i), &list, false, Counted(i));
  }
  ++list.writes;
  list.used = Pods(200);
  strangers.OnStatus(now, Pods(200), &list, false, Counted(100));
  CHECK(strangers.Held().Get("pods").nanos() <= 40 * quantity::kNanosPerOne);
}

TEST_CASE("strangers: what was used up by mistake is held again, for as long as it would have been",
          "[accounting]") {
  Strangers strangers;
  const base::TimePoint now{};
  ReservationList list;
  list.used = Pods(5);
  strangers.OnStatus(now, Pods(5), &list, false, Nothing);
  strangers.OnStatus(now, Pods(7), &list, false, Nothing);
  strangers.OnStatus(now + 4s, Pods(8), &list, false, Nothing);
  const Strangers::Parts used_up = strangers.OnAppeared(Pods(9));
  CHECK(strangers.Held().empty());
  strangers.HoldAgain(used_up);
  CHECK(strangers.Held() == Pods(3));
  strangers.Expire(now + kHold, kHold, ShownUntil(now + kHold));
  CHECK(strangers.Held() == Pods(1));
  strangers.Expire(now + 4s + kHold, kHold, ShownUntil(now + 4s + kHold));
  CHECK(strangers.Held().empty());
}

TEST_CASE("strangers: a name whose objects are not all shown keeps only its own usage",
          "[accounting]") {
  Strangers strangers;
  const base::TimePoint now{};
  strangers.Hold(now,
                 {{"pods", quota::Quantity::FromInt(1)}, {"secrets", quota::Quantity::FromInt(2)}});
  strangers.Hold(now + 1s, {{"pods", quota::Quantity::FromInt(4)}});
  const auto pods_alone = [&](std::string_view name) {
    return name == "pods" ? now + kHold : base::TimePoint::min();
  };
  CHECK(strangers.Expire(now + kHold, kHold, pods_alone) == 1);
  CHECK(strangers.Held() == ResourceList{{"pods", quota::Quantity::FromInt(4)},
                                         {"secrets", quota::Quantity::FromInt(2)}});
  CHECK(strangers.Expire(now + kHold, kHold, pods_alone) == 0);
  CHECK(strangers.Expire(now + 1s + kHold, kHold, ShownUntil(base::TimePoint::max())) == 2);
  CHECK(strangers.Held().empty());
}

TEST_CASE("strangers: what is over and not shown stays as one part", "[accounting]") {
  Strangers strangers;
  const base::TimePoint now{};
  for (int i = 0; i < 100; ++i) strangers.Hold(now + i * 1s, Pods(1), "7");
  std::size_t asked = 0;
  const auto never = [&](std::string_view) {
    ++asked;
    return base::TimePoint::min();
  };
  CHECK(strangers.Expire(now + 49s + kHold, kHold, never) == 0);
  CHECK(asked == 50);
  CHECK(strangers.parts().size() == 51);
  CHECK(strangers.Held() == Pods(100));
  CHECK(strangers.Oldest() == now + 49s);
  CHECK(strangers.Expire(now + 99s + kHold, kHold, never) == 0);
  CHECK(strangers.parts().size() == 1);
  CHECK(strangers.Held() == Pods(100));
  CHECK(strangers.Expire(now + 99s + kHold, kHold, ShownUntil(now + 98s + kHold)) == 0);
  CHECK(strangers.Expire(now + 99s + kHold, kHold, ShownUntil(now + 99s + kHold)) == 1);
  CHECK(strangers.Held().empty());
}

TEST_CASE("strangers: a write of any replica is not a stranger's", "[accounting]") {
  Strangers strangers;
  ReservationList list;
  list.used = Pods(5);
  strangers.OnStatus({}, Pods(5), &list, false, Nothing);
  list.used = Pods(9);
  ++list.writes;
  strangers.OnStatus({}, Pods(9), &list, false, Nothing);
  CHECK(strangers.Held().empty());
}

TEST_CASE("strangers: a fall of used is not held, a later rise is", "[accounting]") {
  Strangers strangers;
  ReservationList list;
  list.used = Pods(5);
  strangers.OnStatus({}, Pods(5), &list, false, Nothing);
  strangers.OnStatus({}, Pods(2), &list, false, Nothing);
  CHECK(strangers.Held().empty());
  strangers.OnStatus({}, Pods(3), &list, false, Nothing);
  CHECK(strangers.Held() == Pods(1));
}

TEST_CASE("strangers: a replica's write that restores an earlier value is not a stranger's",
          "[accounting]") {
  Strangers strangers;
  ReservationList list;
  list.used = Pods(5);
  strangers.OnStatus({}, Pods(5), &list, false, Nothing);
  strangers.OnStatus({}, Pods(2), &list, false, Nothing);
  ++list.writes;
  strangers.OnStatus({}, Pods(5), &list, false, Nothing);
  CHECK(strangers.Held().empty());
}

TEST_CASE("strangers: without a list, a rise after our unanswered lowering is held in full",
          "[accounting]") {
  Strangers strangers;
  strangers.OnStatus({}, Pods(2), nullptr, true, Nothing);
  strangers.OnUnanswered(Pods(0));
  strangers.OnStatus({}, Pods(3), nullptr, false, Nothing);
  CHECK(strangers.Held() == Pods(3));
}

TEST_CASE("strangers: without a list, each rise after the first status is held", "[accounting]") {
  Strangers strangers;
  strangers.OnStatus({}, Pods(5), nullptr, true, Nothing);
  CHECK(strangers.Held().empty());
  strangers.OnStatus({}, Pods(7), nullptr, false, Nothing);
  CHECK(strangers.Held() == Pods(2));
}

TEST_CASE("strangers: without a list, a rise that we have counted is not held", "[accounting]") {
  Strangers strangers;
  strangers.OnStatus({}, Pods(5), nullptr, true, Counted(5));
  strangers.OnStatus({}, Pods(9), nullptr, false, Counted(8));
  CHECK(strangers.Held() == Pods(1));
  strangers.OnStatus({}, Pods(10), nullptr, false, Counted(9));
  CHECK(strangers.Held() == Pods(1));
}

TEST_CASE("strangers: a new process takes over the holds of the last writer", "[accounting]") {
  Strangers strangers;
  ReservationList list;
  list.used = Pods(5);
  list.strangers = Pods(2);
  strangers.OnStatus({}, Pods(6), &list, true, Nothing);
  CHECK(strangers.Held() == Pods(3));
}

TEST_CASE("strangers: a live read does not take over settled holds again", "[accounting]") {
  Strangers strangers;
  ReservationList list;
  list.used = Pods(5);
  list.strangers = Pods(1);
  strangers.OnStatus({}, Pods(5), &list, true, Nothing);
  strangers.OnAppeared(Pods(1));
  strangers.OnStatus({}, Pods(5), &list, true, Nothing);
  CHECK(strangers.Held().empty());
  // Another writer has begun to hold one more.
  ++list.writes;
  list.used = Pods(6);
  list.strangers = Pods(2);
  strangers.OnStatus({}, Pods(6), &list, true, Nothing);
  CHECK(strangers.Held() == Pods(1));
}

TEST_CASE("strangers: a first count replaces the hold by the amount that it does not explain",
          "[accounting]") {
  Strangers strangers;
  ReservationList list;
  list.used = Pods(5);
  list.strangers = Pods(3);
  strangers.OnStatus({}, Pods(5), &list, true, Nothing);
  CHECK(strangers.Held() == Pods(3));
  strangers.OnFirstCount({}, Pods(5), Pods(1), Pods(1));
  CHECK(strangers.Held() == Pods(1));
  strangers.OnFirstCount({}, {}, {}, {});
  CHECK(strangers.Held() == Pods(1));
}

TEST_CASE("strangers: a first count keeps a rise that was held before a list without strangers",
          "[accounting]") {
  Strangers strangers;
  strangers.OnUnanswered(Pods(0));  // our first recount, which the watch shows before its answer
  strangers.OnStatus({}, Pods(2), nullptr, false, Nothing);
  CHECK(strangers.Held() == Pods(2));
  strangers.OnFirstCount({}, Pods(2), {}, Pods(2));
  CHECK(strangers.Held() == Pods(2));
  strangers.OnFirstCount({}, Pods(2), {}, Pods(1));
  CHECK(strangers.Held() == Pods(1));
}

TEST_CASE("strangers: a new leader takes over only the unexplained part of a hold",
          "[accounting]") {
  Strangers strangers;
  ReservationList list;
  list.used = Pods(5);
  list.strangers = Pods(2);
  strangers.TakeOver({}, Pods(5), &list, Counted(4));
  CHECK(strangers.Held() == Pods(1));
}

TEST_CASE("strangers: a new leader holds again what lapsed while it followed", "[accounting]") {
  const base::TimePoint start{};
  Strangers strangers;
  strangers.OnStatus(start, Pods(0), nullptr, false, Counted(0));
  strangers.OnStatus(start, Pods(3), nullptr, false, Counted(0));
  strangers.Lapse(start + 9s, 10s);
  CHECK(strangers.Held() == Pods(3));
  strangers.Lapse(start + 10s, 10s);
  CHECK(strangers.Held().empty());
  strangers.TakeOver(start + 20s, Pods(3), nullptr, Counted(2));
  CHECK(strangers.Held() == Pods(1));
  CHECK(strangers.Oldest() == start + 20s);
  // Once: the second time the server was asked.
  CHECK(strangers.Expire(start + 30s, 10s, ShownUntil(start + 30s)) == 1);
  strangers.TakeOver(start + 30s, Pods(3), nullptr, Counted(2));
  CHECK(strangers.Held().empty());
}

TEST_CASE("strangers: after a list that was not shown, all strangers' usage of the next is held",
          "[accounting]") {
  Strangers strangers;
  ReservationList list;
  list.writes = 4;
  list.used = Pods(5);
  list.strangers = Pods(2);
  strangers.OnStatus({}, Pods(5), &list, true, Counted(3));
  strangers.OnAppeared(Pods(2));
  CHECK(strangers.Held().empty());
  list.writes = 5;
  SECTION("the same usage, in the next list") {
    strangers.OnStatus({}, Pods(5), &list, true, Counted(3));
    CHECK(strangers.Held().empty());
  }
  SECTION("other usage: a list without it was between them") {
    list.writes = 6;
    strangers.OnStatus({}, Pods(5), &list, true, Counted(3));
    CHECK(strangers.Held() == Pods(2));
  }
}

TEST_CASE("strangers: a rise before the first list is held, without its reservations",
          "[accounting]") {
  Strangers strangers;
  strangers.OnStatus({}, Pods(1), nullptr, false, Counted(1));
  ReservationList list;
  list.used = Pods(7);
  list.Add({.by = "a", .n = 1, .of = "pods", .usage = Pods(2), .objects = {Object(1)}});
  strangers.OnStatus({}, Pods(7), &list, true, Counted(3));
  CHECK(strangers.Held() == Pods(4));
}

TEST_CASE("strangers: an object that is older than a stranger's write uses up nothing of it",
          "[accounting]") {
  Strangers strangers;
  strangers.OnStatus({}, Pods(0), nullptr, false, Counted(0), "10");
  strangers.OnStatus({}, Pods(3), nullptr, false, Counted(0), "20");
  CHECK(strangers.OnAppeared(Pods(1), "19").empty());
  CHECK(strangers.Held() == Pods(3));
  CHECK(strangers.OnAppeared(Pods(1), "21").size() == 1);
  CHECK(strangers.Held() == Pods(2));
  // Versions that cannot be ordered.
  CHECK(strangers.OnAppeared(Pods(1), "z").size() == 1);
  CHECK(strangers.Held() == Pods(1));
}

}  // namespace strangers_test
