#include "pkg/accounting/external_charges.h"

#include <catch2/catch.hpp>

#include "pkg/accounting/timing.h"
#include "tests/pkg/accounting/accounting_fixture.h"

namespace external_charges_test {

using namespace accounting_test;
using accounting::ExternalCharges;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

constexpr auto kHold = 10s;

ResourceList Nothing() { return {}; }
accounting::Counted Counted(int pods) {
  return [pods] { return Pods(pods); };
}
// An object without an entry appears.
void Appear(ExternalCharges& charges, int pods, const std::string& version = "",
            const ReservationList* list = nullptr, base::TimePoint now = {}) {
  charges.OnAppeared(
      now, {.resource = "pods", .uid = Object(1), .version = version, .usage = Pods(pods)}, list);
}
ExternalCharges::ShownUntil ShownUntil(base::TimePoint until) {
  return [until](std::string_view) { return until; };
}

TEST_CASE("external charges: an amount above our last write is held until objects appear",
          "[accounting]") {
  ExternalCharges charges;
  const base::TimePoint now{};
  ReservationList list;
  list.used = Pods(5);
  charges.OnStatus(now, Pods(5), &list, false, Nothing);
  CHECK(charges.Held().empty());
  charges.OnStatus(now, Pods(8), &list, false, Nothing);
  CHECK(charges.Held() == Pods(3));
  charges.OnStatus(now, Pods(8), &list, false, Nothing);
  CHECK(charges.Held() == Pods(3));
  Appear(charges, 2);
  CHECK(charges.Held() == Pods(1));
  charges.Expire(now + kHold, kHold, ShownUntil(now + kHold));
  CHECK(charges.Held().empty());
}

TEST_CASE("external charges: a rise is not held for an object that was shown before it",
          "[accounting]") {
  ExternalCharges charges;
  ReservationList list;
  list.used = Pods(11);
  charges.OnStatus({}, Pods(11), &list, false, Counted(11));
  charges.OnStatus({}, Pods(13), &list, false, Counted(12));
  CHECK(charges.Held() == Pods(1));
  charges.OnStatus({}, Pods(14), &list, false, Counted(13));
  CHECK(charges.Held() == Pods(1));
  Appear(charges, 1);
  CHECK(charges.Held().empty());
}

TEST_CASE(
    "external charges: a rise is held once a list has an entry for the object that seemed to be it",
    "[accounting]") {
  ExternalCharges charges;
  ReservationList list;
  list.used = Pods(5);
  charges.OnStatus({}, Pods(5), &list, false, Counted(5));
  // The object of an entry is shown, then an external rise, then the entry.
  charges.OnStatus({}, Pods(6), &list, false, Counted(6));
  CHECK(charges.Held().empty());
  list.used = Pods(7);
  ++list.writes;
  SECTION("soon") {
    charges.OnStatus(base::TimePoint{} + 1s, Pods(7), &list, false, Counted(6));
    CHECK(charges.Held() == Pods(1));
    ++list.writes;
    charges.OnStatus(base::TimePoint{} + 1s, Pods(7), &list, false, Counted(6));
    CHECK(charges.Held() == Pods(1));  // and only once
  }
  SECTION("the entry is for an object that is not shown yet") {
    charges.OnStatus(base::TimePoint{} + 1s, Pods(7), &list, false, Counted(7));
    CHECK(charges.Held().empty());
  }
  SECTION("when the watch of quotas must have shown it before") {
    charges.OnStatus(base::TimePoint{} + accounting::kCatchesUp, Pods(7), &list, false, Counted(6));
    CHECK(charges.Held().empty());
  }
}

TEST_CASE("external charges: rises that were passed over are kept together when they are many",
          "[accounting]") {
  ExternalCharges charges;
  ReservationList list;
  list.used = Pods(0);
  charges.OnStatus({}, Pods(0), &list, false, Nothing);
  for (int i = 1; i <= 50; ++i) charges.OnStatus({}, Pods(i), &list, false, Counted(i));
  ++list.writes;
  list.used = Pods(100);
  charges.OnStatus({}, Pods(100), &list, false, Counted(50));
  CHECK(charges.Held() == Pods(50));
}

TEST_CASE("external charges: rises that were passed over grow old, however many follow",
          "[accounting]") {
  ExternalCharges charges;
  ReservationList list;
  list.used = Pods(0);
  charges.OnStatus({}, Pods(0), &list, false, Nothing);
  base::TimePoint now{};
  for (int i = 1; i <= 100; ++i, now += 100ms) {
    charges.OnStatus(now, Pods(i), &list, false, Counted(i));
  }
  ++list.writes;
  list.used = Pods(200);
  charges.OnStatus(now, Pods(200), &list, false, Counted(100));
  CHECK(charges.Held().Get("pods").nanos() <= 40 * quantity::kNanosPerOne);
}

TEST_CASE(
    "external charges: what was used up by mistake is held again, for as long as it would have "
    "been",
    "[accounting]") {
  ExternalCharges charges;
  const base::TimePoint now{};
  ReservationList list;
  list.used = Pods(5);
  charges.OnStatus(now, Pods(5), &list, false, Nothing);
  charges.OnStatus(now, Pods(7), &list, false, Nothing);
  charges.OnStatus(now + 4s, Pods(8), &list, false, Nothing);
  Appear(charges, 9, "12", &list, now + 4s);
  CHECK(charges.Held().empty());
  // The watch of quotas shows later that another process admitted the object.
  ++list.writes;
  list.used = Pods(8);
  SECTION("it has an entry") { list.Add(Creation(1, {Object(1)})); }
  SECTION("it has an entry of its growth") { list.Add(Growth(1, Object(1), 9, "11")); }
  charges.OnStatus(now + 4s, Pods(8), &list, false, Nothing);
  CHECK(charges.Held() == Pods(3));
  charges.Expire(now + kHold, kHold, ShownUntil(now + kHold));
  CHECK(charges.Held() == Pods(1));
  charges.Expire(now + 4s + kHold, kHold, ShownUntil(now + 4s + kHold));
  CHECK(charges.Held().empty());
}

TEST_CASE("external charges: what an object used up is held again only if it had an entry",
          "[accounting]") {
  ExternalCharges charges;
  const base::TimePoint now{};
  ReservationList list;
  list.used = Pods(5);
  charges.OnStatus(now, Pods(5), &list, false, Nothing);
  charges.OnStatus(now, Pods(7), &list, false, Nothing);
  bool held = false;
  base::Duration later{};
  SECTION("an object of a burst gets no entry if its writer has seen it") {
    list.Add({.by = "b", .n = 1, .of = "pods", .usage = Pods(4), .unassigned = 4});
    held = true;
  }
  SECTION("without a burst, an object within the floor is that of the external writer") {}
  SECTION("an entry for another object") { list.Add(Creation(1, {Object(2)})); }
  SECTION("an entry of a growth from this version or a later one") {
    list.Add(Growth(1, Object(1), 9, "12"));
  }
  SECTION("the watch of quotas must have shown the entry before") {
    list.Add(Creation(1, {Object(1)}));
    later = accounting::kCatchesUp;
  }
  Appear(charges, 2, "12", &list, now);
  CHECK(charges.Held().empty());
  ++list.writes;
  list.used = Pods(7);
  list.floor["pods"] = "13";
  charges.OnStatus(now + later, Pods(7), &list, false, Nothing);
  CHECK(charges.Held() == (held ? Pods(2) : ResourceList()));
}

TEST_CASE("external charges: an object within the floor uses up nothing", "[accounting]") {
  ExternalCharges charges;
  ReservationList list;
  list.used = Pods(5);
  list.floor["pods"] = "12";
  charges.OnStatus({}, Pods(5), &list, false, Nothing);
  charges.OnStatus({}, Pods(7), &list, false, Nothing);
  Appear(charges, 1, "12", &list);
  CHECK(charges.Held() == Pods(2));
  Appear(charges, 1, "13", &list);
  CHECK(charges.Held() == Pods(1));
}

TEST_CASE("external charges: a name whose objects are not all shown keeps only its own usage",
          "[accounting]") {
  ExternalCharges charges;
  const base::TimePoint now{};
  const auto of = [](int pods, int secrets) {
    return ResourceList{{"pods", quota::Quantity::FromInt(pods)},
                        {"secrets", quota::Quantity::FromInt(secrets)}};
  };
  charges.OnStatus(now, of(0, 0), nullptr, false, Nothing);
  charges.OnStatus(now, of(1, 2), nullptr, false, Nothing);
  charges.OnStatus(now + 1s, of(5, 2), nullptr, false, Nothing);
  const auto pods_alone = [&](std::string_view name) {
    return name == "pods" ? now + kHold : base::TimePoint::min();
  };
  CHECK(charges.Expire(now + kHold, kHold, pods_alone) == 1);
  CHECK(charges.Held() == ResourceList{{"pods", quota::Quantity::FromInt(4)},
                                       {"secrets", quota::Quantity::FromInt(2)}});
  CHECK(charges.Expire(now + kHold, kHold, pods_alone) == 0);
  CHECK(charges.Expire(now + 1s + kHold, kHold, ShownUntil(base::TimePoint::max())) == 2);
  CHECK(charges.Held().empty());
}

TEST_CASE("external charges: what is over and not shown stays as one part", "[accounting]") {
  ExternalCharges charges;
  const base::TimePoint now{};
  charges.OnStatus(now, Pods(0), nullptr, false, Nothing);
  for (int i = 0; i < 100; ++i) {
    charges.OnStatus(now + i * 1s, Pods(i + 1), nullptr, false, Nothing, "7");
  }
  std::size_t asked = 0;
  const auto never = [&](std::string_view) {
    ++asked;
    return base::TimePoint::min();
  };
  CHECK(charges.Expire(now + 49s + kHold, kHold, never) == 0);
  CHECK(asked == 50);
  CHECK(charges.parts().size() == 51);
  CHECK(charges.Held() == Pods(100));
  CHECK(charges.Oldest() == now + 49s);
  CHECK(charges.Expire(now + 99s + kHold, kHold, never) == 0);
  CHECK(charges.parts().size() == 1);
  CHECK(charges.Held() == Pods(100));
  CHECK(charges.Expire(now + 99s + kHold, kHold, ShownUntil(now + 98s + kHold)) == 0);
  CHECK(charges.Expire(now + 99s + kHold, kHold, ShownUntil(now + 99s + kHold)) == 1);
  CHECK(charges.Held().empty());
}

TEST_CASE("external charges: a write of any replica is none", "[accounting]") {
  ExternalCharges charges;
  ReservationList list;
  list.used = Pods(5);
  charges.OnStatus({}, Pods(5), &list, false, Nothing);
  list.used = Pods(9);
  ++list.writes;
  charges.OnStatus({}, Pods(9), &list, false, Nothing);
  CHECK(charges.Held().empty());
}

TEST_CASE("external charges: a fall of used is not held, a later rise is", "[accounting]") {
  ExternalCharges charges;
  ReservationList list;
  list.used = Pods(5);
  charges.OnStatus({}, Pods(5), &list, false, Nothing);
  charges.OnStatus({}, Pods(2), &list, false, Nothing);
  CHECK(charges.Held().empty());
  charges.OnStatus({}, Pods(3), &list, false, Nothing);
  CHECK(charges.Held() == Pods(1));
}

TEST_CASE("external charges: a replica's write that restores an earlier value is none",
          "[accounting]") {
  ExternalCharges charges;
  ReservationList list;
  list.used = Pods(5);
  charges.OnStatus({}, Pods(5), &list, false, Nothing);
  charges.OnStatus({}, Pods(2), &list, false, Nothing);
  ++list.writes;
  charges.OnStatus({}, Pods(5), &list, false, Nothing);
  CHECK(charges.Held().empty());
}

TEST_CASE("external charges: without a list, a rise after our unanswered lowering is held in full",
          "[accounting]") {
  ExternalCharges charges;
  charges.OnStatus({}, Pods(2), nullptr, true, Nothing);
  charges.OnUnanswered(Pods(0));
  charges.OnStatus({}, Pods(3), nullptr, false, Nothing);
  CHECK(charges.Held() == Pods(3));
}

TEST_CASE("external charges: without a list, each rise after the first status is held",
          "[accounting]") {
  ExternalCharges charges;
  charges.OnStatus({}, Pods(5), nullptr, true, Nothing);
  CHECK(charges.Held().empty());
  charges.OnStatus({}, Pods(7), nullptr, false, Nothing);
  CHECK(charges.Held() == Pods(2));
}

TEST_CASE("external charges: without a list, a rise that we have counted is not held",
          "[accounting]") {
  ExternalCharges charges;
  charges.OnStatus({}, Pods(5), nullptr, true, Counted(5));
  charges.OnStatus({}, Pods(9), nullptr, false, Counted(8));
  CHECK(charges.Held() == Pods(1));
  charges.OnStatus({}, Pods(10), nullptr, false, Counted(9));
  CHECK(charges.Held() == Pods(1));
}

TEST_CASE("external charges: a new process takes over the holds of the last writer",
          "[accounting]") {
  ExternalCharges charges;
  ReservationList list;
  list.used = Pods(5);
  list.external = Pods(2);
  charges.OnStatus({}, Pods(6), &list, true, Nothing);
  CHECK(charges.Held() == Pods(3));
}

TEST_CASE("external charges: a live read does not take over settled holds again", "[accounting]") {
  ExternalCharges charges;
  ReservationList list;
  list.used = Pods(5);
  list.external = Pods(1);
  charges.OnStatus({}, Pods(5), &list, true, Nothing);
  Appear(charges, 1);
  charges.OnStatus({}, Pods(5), &list, true, Nothing);
  CHECK(charges.Held().empty());
  // Another writer has begun to hold one more.
  ++list.writes;
  list.used = Pods(6);
  list.external = Pods(2);
  charges.OnStatus({}, Pods(6), &list, true, Nothing);
  CHECK(charges.Held() == Pods(1));
}

TEST_CASE(
    "external charges: a first count replaces the hold by the amount that it does not explain",
    "[accounting]") {
  ExternalCharges charges;
  ReservationList list;
  list.used = Pods(5);
  list.external = Pods(3);
  charges.OnStatus({}, Pods(5), &list, true, Nothing);
  CHECK(charges.Held() == Pods(3));
  charges.OnFirstCount({}, Pods(5), &list, Nothing);
  CHECK(charges.Held() == Pods(3));  // the name is not counted yet
  charges.OnFirstCount({}, Pods(5), &list, Counted(4));
  CHECK(charges.Held() == Pods(1));
  charges.OnFirstCount({}, Pods(5), &list, Counted(5));
  CHECK(charges.Held() == Pods(1));  // only the first count is compared
}

TEST_CASE(
    "external charges: a first count keeps a rise that was held before a list that records none",
    "[accounting]") {
  ExternalCharges charges;
  charges.OnUnanswered(Pods(0));  // our first recount, which the watch shows before its answer
  charges.OnStatus({}, Pods(2), nullptr, false, Nothing);
  CHECK(charges.Held() == Pods(2));
  ReservationList list;
  list.used = Pods(2);
  const int counted = GENERATE(0, 1);
  charges.OnFirstCount({}, Pods(2), &list, Counted(counted));
  CHECK(charges.Held() == Pods(2 - counted));
}

TEST_CASE("external charges: a first count holds at most what the list shows", "[accounting]") {
  ExternalCharges charges;
  ReservationList list;
  list.used = Pods(5);
  list.external = Pods(1);
  charges.OnFirstCount({}, Pods(7), &list, Counted(2));
  CHECK(charges.Held() == Pods(3));
}

TEST_CASE("external charges: without its list, a quota is compared with its count again",
          "[accounting]") {
  ExternalCharges charges;
  ReservationList list;
  list.used = Pods(5);
  charges.OnStatus({}, Pods(5), &list, false, Counted(5));
  charges.OnFirstCount({}, Pods(5), &list, Counted(5));
  CHECK(charges.Held().empty());
  charges.OnStatus({}, Pods(5), nullptr, false, Counted(3));
  charges.OnFirstCount({}, Pods(5), nullptr, Counted(3));
  CHECK(charges.Held() == Pods(2));
}

TEST_CASE("external charges: only a leader lowers what the list records", "[accounting]") {
  ExternalCharges charges;
  ReservationList list;
  list.used = Pods(5);
  list.external = Pods(2);
  charges.OnStatus({}, Pods(5), &list, false, Counted(5));
  CHECK(charges.ToRecord(Pods(6), &list, true) == Pods(3));
  CHECK(charges.ToRecord(Pods(6), nullptr, true).empty());
  charges.Lead({}, true, Pods(5), &list, Counted(4));
  CHECK(charges.ToRecord(Pods(6), &list, true) == Pods(1));
  // It has just lost the lease.
  CHECK(charges.ToRecord(Pods(6), &list, false) == Pods(3));
}

TEST_CASE("external charges: a new leader takes over only the unexplained part of a hold",
          "[accounting]") {
  ExternalCharges charges;
  ReservationList list;
  list.used = Pods(5);
  list.external = Pods(2);
  charges.Lead({}, true, Pods(5), &list, Counted(4));
  CHECK(charges.Held() == Pods(1));
}

TEST_CASE("external charges: a new leader holds again what lapsed while it followed",
          "[accounting]") {
  const base::TimePoint start{};
  ExternalCharges charges;
  charges.OnStatus(start, Pods(0), nullptr, false, Counted(0));
  charges.OnStatus(start, Pods(3), nullptr, false, Counted(0));
  charges.Lapse(start + 9s, 10s);
  CHECK(charges.Held() == Pods(3));
  charges.Lapse(start + 10s, 10s);
  CHECK(charges.Held().empty());
  charges.Lead(start + 20s, true, Pods(3), nullptr, Counted(2));
  CHECK(charges.Held() == Pods(1));
  CHECK(charges.Oldest() == start + 20s);
  // Once: the second time the server was asked.
  CHECK(charges.Expire(start + 30s, 10s, ShownUntil(start + 30s)) == 1);
  charges.Lead(start + 30s, false, Pods(3), nullptr, Counted(2));
  charges.Lead(start + 30s, true, Pods(3), nullptr, Counted(2));
  CHECK(charges.Held().empty());
}

TEST_CASE(
    "external charges: after a list that was not shown, all that the next one records is held",
    "[accounting]") {
  ExternalCharges charges;
  ReservationList list;
  list.writes = 4;
  list.used = Pods(5);
  list.external = Pods(2);
  charges.OnStatus({}, Pods(5), &list, true, Counted(3));
  Appear(charges, 2);
  CHECK(charges.Held().empty());
  list.writes = 5;
  SECTION("the same usage, in the next list") {
    charges.OnStatus({}, Pods(5), &list, true, Counted(3));
    CHECK(charges.Held().empty());
  }
  SECTION("other usage: a list without it was between them") {
    list.writes = 6;
    charges.OnStatus({}, Pods(5), &list, true, Counted(3));
    CHECK(charges.Held() == Pods(2));
  }
}

TEST_CASE("external charges: a rise before the first list is held, without its reservations",
          "[accounting]") {
  ExternalCharges charges;
  charges.OnStatus({}, Pods(1), nullptr, false, Counted(1));
  ReservationList list;
  list.used = Pods(7);
  list.Add({.by = "a", .n = 1, .of = "pods", .usage = Pods(2), .objects = {Object(1)}});
  charges.OnStatus({}, Pods(7), &list, true, Counted(3));
  CHECK(charges.Held() == Pods(4));
}

TEST_CASE("external charges: an object that is older than the external write uses up nothing of it",
          "[accounting]") {
  ExternalCharges charges;
  charges.OnStatus({}, Pods(0), nullptr, false, Counted(0), "10");
  charges.OnStatus({}, Pods(3), nullptr, false, Counted(0), "20");
  Appear(charges, 1, "19");
  CHECK(charges.Held() == Pods(3));
  Appear(charges, 1, "21");
  CHECK(charges.Held() == Pods(2));
  // Versions that cannot be ordered.
  Appear(charges, 1, "z");
  CHECK(charges.Held() == Pods(1));
}

}  // namespace external_charges_test
