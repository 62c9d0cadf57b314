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
ExternalCharges::ShownUntil ShownUntil(base::TimePoint until) {
  return [until](std::string_view) { return until; };
}

// A quota with its list, and what the watches show of it.
struct Charged {
  // The quota has a list that was written with this `used`, and the watch shows it.
  void Begin(int used) {
    list.used = Pods(used);
    Show(used);
  }
  // Some process writes the list with this `used`.
  void Write(int used) {
    ++list.writes;
    list.used = Pods(used);
  }
  // The watch shows a status with this `used`: with the list or a bare one, in turn or after
  // versions that it missed.
  void Show(int used, const accounting::Counted& counted = Nothing) {
    OnStatus(used, &list, false, counted, "");
  }
  void ShowAfterGap(int used, const accounting::Counted& counted = Nothing) {
    OnStatus(used, &list, true, counted, "");
  }
  void ShowBare(int used, const accounting::Counted& counted = Nothing,
                const std::string& version = "") {
    OnStatus(used, nullptr, false, counted, version);
  }
  void ShowBareAfterGap(int used, const accounting::Counted& counted = Nothing) {
    OnStatus(used, nullptr, true, counted, "");
  }
  // An object without an entry appears.
  void Appear(int pods, const std::string& version = "") {
    charges.OnAppeared(
        now, {.resource = "pods", .uid = Object(1), .version = version, .usage = Pods(pods)},
        shown);
  }

  ExternalCharges charges;
  ReservationList list;
  base::TimePoint now{};
  const ReservationList* shown = nullptr;  // that of the last status; null: it had none

 private:
  void OnStatus(int used, const ReservationList* with, bool skipped,
                const accounting::Counted& counted, const std::string& version) {
    shown = with;
    charges.OnStatus(now, Pods(used), with, skipped, counted, version);
  }
};

TEST_CASE_METHOD(Charged,
                 "external charges: an amount above our last write is held until objects appear",
                 "[accounting]") {
  Begin(5);
  CHECK(charges.Held().empty());
  Show(8);
  CHECK(charges.Held() == Pods(3));
  Show(8);
  CHECK(charges.Held() == Pods(3));
  Appear(2);
  CHECK(charges.Held() == Pods(1));
  charges.Expire(now + kHold, kHold, ShownUntil(now + kHold));
  CHECK(charges.Held().empty());
}

TEST_CASE_METHOD(Charged,
                 "external charges: a rise is not held for an object that was shown before it",
                 "[accounting]") {
  Begin(11);
  Show(13, Counted(12));
  CHECK(charges.Held() == Pods(1));
  Show(14, Counted(13));
  CHECK(charges.Held() == Pods(1));
  Appear(1);
  CHECK(charges.Held().empty());
}

TEST_CASE_METHOD(
    Charged,
    "external charges: a rise is held once a list has an entry for the object that seemed to be it",
    "[accounting]") {
  Begin(5);
  // The object of an entry is shown, then an external rise, then the entry.
  Show(6, Counted(6));
  CHECK(charges.Held().empty());
  Write(7);
  SECTION("soon") {
    now += 1s;
    Show(7, Counted(6));
    CHECK(charges.Held() == Pods(1));
    ++list.writes;
    Show(7, Counted(6));
    CHECK(charges.Held() == Pods(1));  // and only once
  }
  SECTION("the entry is for an object that is not shown yet") {
    now += 1s;
    Show(7, Counted(7));
    CHECK(charges.Held().empty());
  }
  SECTION("when the watch of quotas must have shown it before") {
    now += accounting::kCatchesUp;
    Show(7, Counted(6));
    CHECK(charges.Held().empty());
  }
}

TEST_CASE_METHOD(
    Charged, "external charges: rises that were passed over are kept together when they are many",
    "[accounting]") {
  Begin(0);
  for (int i = 1; i <= 50; ++i) Show(i, Counted(i));
  Write(100);
  Show(100, Counted(50));
  CHECK(charges.Held() == Pods(50));
}

TEST_CASE_METHOD(Charged,
                 "external charges: rises that were passed over grow old, however many follow",
                 "[accounting]") {
  Begin(0);
  for (int i = 1; i <= 100; ++i, now += 100ms) {
    Show(i, Counted(i));
  }
  Write(200);
  Show(200, Counted(100));
  CHECK(charges.Held().Get("pods").nanos() <= 40 * quantity::kNanosPerOne);
}

TEST_CASE_METHOD(
    Charged,
    "external charges: what was used up by mistake is held again, for as long as it would have "
    "been",
    "[accounting]") {
  Begin(5);
  Show(7);
  const base::TimePoint risen = now;
  now += 4s;
  Show(8);
  Appear(9, "12");
  CHECK(charges.Held().empty());
  // The watch of quotas shows later that another process admitted the object.
  Write(8);
  SECTION("it has an entry") { list.Add(Creation(1, {Object(1)})); }
  SECTION("it has an entry of its growth") { list.Add(Growth(1, Object(1), 9, "11")); }
  Show(8);
  CHECK(charges.Held() == Pods(3));
  charges.Expire(risen + kHold, kHold, ShownUntil(risen + kHold));
  CHECK(charges.Held() == Pods(1));
  charges.Expire(now + kHold, kHold, ShownUntil(now + kHold));
  CHECK(charges.Held().empty());
}

TEST_CASE_METHOD(Charged,
                 "external charges: what an object used up is held again only if it had an entry",
                 "[accounting]") {
  Begin(5);
  Show(7);
  bool held = false;
  base::Duration later{};
  SECTION("an object of a burst gets no entry if its writer has seen it") {
    list.Add({.by = "b", .n = 1, .of = "pods", .usage = Pods(4), .unassigned = 4});
    held = true;
    later = GENERATE(base::Duration(), base::Duration(accounting::kLongBurstLasts + 3s));
  }
  SECTION("a burst has ended by then") {
    list.Add({.by = "b", .n = 1, .of = "pods", .usage = Pods(4), .unassigned = 4});
    later = accounting::kEndsBurst;
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
  Appear(2, "12");
  CHECK(charges.Held().empty());
  Write(7);
  list.floor["pods"] = "13";
  now += later;
  Show(7);
  CHECK(charges.Held() == (held ? Pods(2) : ResourceList()));
}

TEST_CASE_METHOD(Charged, "external charges: of many objects only the last ones are held again",
                 "[accounting]") {
  Begin(0);
  Show(100);
  constexpr int kRemembered = 64;
  for (std::uint64_t i = 0; i <= kRemembered; ++i) {
    charges.OnAppeared(now, {.resource = "pods", .uid = Object(i), .usage = Pods(1)}, shown);
  }
  const int held = 100 - kRemembered - 1;
  CHECK(charges.Held() == Pods(held));
  Write(100);
  const auto oldest = static_cast<std::uint64_t>(GENERATE(0, 1));
  list.Add(Creation(1, {Object(oldest)}));
  Show(100, Counted(100));
  CHECK(charges.Held() == Pods(oldest == 0 ? held : held + 1));
}

TEST_CASE_METHOD(Charged, "external charges: an object within the floor uses up nothing",
                 "[accounting]") {
  list.used = Pods(5);
  list.floor["pods"] = "12";
  Show(5);
  Show(7);
  Appear(1, "12");
  CHECK(charges.Held() == Pods(2));
  Appear(1, "13");
  CHECK(charges.Held() == Pods(1));
}

TEST_CASE_METHOD(
    Charged, "external charges: a name whose objects are not all shown keeps only its own usage",
    "[accounting]") {
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

TEST_CASE_METHOD(Charged, "external charges: what is over and not shown stays as one part",
                 "[accounting]") {
  ShowBare(0);
  const base::TimePoint first = now;
  for (int i = 0; i < 100; ++i, now += 1s) ShowBare(i + 1, Nothing, "7");
  std::size_t asked = 0;
  const auto never = [&](std::string_view) {
    ++asked;
    return base::TimePoint::min();
  };
  CHECK(charges.Expire(first + 49s + kHold, kHold, never) == 0);
  CHECK(asked == 50);
  CHECK(charges.parts().size() == 51);
  CHECK(charges.Held() == Pods(100));
  CHECK(charges.Oldest() == first + 49s);
  CHECK(charges.Expire(first + 99s + kHold, kHold, never) == 0);
  CHECK(charges.parts().size() == 1);
  CHECK(charges.Held() == Pods(100));
  CHECK(charges.Expire(first + 99s + kHold, kHold, ShownUntil(first + 98s + kHold)) == 0);
  CHECK(charges.Expire(first + 99s + kHold, kHold, ShownUntil(first + 99s + kHold)) == 1);
  CHECK(charges.Held().empty());
}

TEST_CASE_METHOD(Charged, "external charges: a write of any replica is none", "[accounting]") {
  Begin(5);
  Write(9);
  Show(9);
  CHECK(charges.Held().empty());
}

TEST_CASE_METHOD(Charged,
                 "external charges: a rise during our write without a list is measured once",
                 "[accounting]") {
  ShowBare(5, Counted(5));
  const base::TimePoint began = now;
  now += 1ms;
  // Our write sets 5, and an external writer 8.
  int counted = 5;
  int held = 3;  // after the list
  SECTION("the watch showed it, and it was held") {
    ShowBare(8, Counted(5));
    CHECK(charges.Held() == Pods(3));
  }
  SECTION("the watch showed it, and an object seemed to account for it") {
    counted = 8;
    held = 2;
    ShowBare(8, Counted(8));
    CHECK(charges.Held().empty());
  }
  SECTION("the watch showed it, and an object used it up") {
    counted = 8;
    held = 0;
    ShowBare(8, Counted(5));
    Appear(3);
    CHECK(charges.Held().empty());
  }
  charges.OnWritten(now, began, Pods(5), Pods(8), Counted(counted));
  // A list reserves 4 more, of which 2 are counted.
  ++list.writes;
  list.used = Pods(12);
  list.external = charges.Held();
  list.entries().push_back(Creation(1, {Object(2)}, 4));
  Show(12, Counted(counted + 2));
  CHECK(charges.Held().Get("pods") == Quantity::FromInt(held));
}

TEST_CASE_METHOD(Charged, "external charges: our answer tells a rise that the watch did not show",
                 "[accounting]") {
  ShowBare(8, Counted(8));
  const base::TimePoint began = now;
  now += 1ms;
  // Our write lowers 8 to 5, and an external writer raises it to 7 again.
  ShowBare(7, Counted(5));
  CHECK(charges.Held().empty());
  charges.OnWritten(now, began, Pods(5), Pods(7), Counted(5));
  CHECK(charges.Held() == Pods(2));
}

TEST_CASE_METHOD(Charged, "external charges: a fall of used is not held, a later rise is",
                 "[accounting]") {
  Begin(5);
  Show(2);
  CHECK(charges.Held().empty());
  Show(3);
  CHECK(charges.Held() == Pods(1));
}

TEST_CASE_METHOD(Charged,
                 "external charges: a replica's write that restores an earlier value is none",
                 "[accounting]") {
  Begin(5);
  Show(2);
  ++list.writes;
  Show(5);
  CHECK(charges.Held().empty());
}

TEST_CASE_METHOD(
    Charged,
    "external charges: without a list, a rise after our unanswered lowering is held in full",
    "[accounting]") {
  ShowBareAfterGap(2);
  charges.OnUnanswered(Pods(0));
  ShowBare(3);
  CHECK(charges.Held() == Pods(3));
}

TEST_CASE_METHOD(Charged,
                 "external charges: without a list, each rise after the first status is held",
                 "[accounting]") {
  ShowBareAfterGap(5);
  CHECK(charges.Held().empty());
  ShowBare(7);
  CHECK(charges.Held() == Pods(2));
}

TEST_CASE_METHOD(Charged,
                 "external charges: without a list, a rise that we have counted is not held",
                 "[accounting]") {
  ShowBareAfterGap(5, Counted(5));
  ShowBare(9, Counted(8));
  CHECK(charges.Held() == Pods(1));
  ShowBare(10, Counted(9));
  CHECK(charges.Held() == Pods(1));
}

TEST_CASE_METHOD(Charged, "external charges: a new process takes over the holds of the last writer",
                 "[accounting]") {
  list.used = Pods(5);
  list.external = Pods(2);
  ShowAfterGap(6);
  CHECK(charges.Held() == Pods(3));
}

TEST_CASE_METHOD(Charged, "external charges: a live read does not take over settled holds again",
                 "[accounting]") {
  list.used = Pods(5);
  list.external = Pods(1);
  ShowAfterGap(5);
  Appear(1);
  ShowAfterGap(5);
  CHECK(charges.Held().empty());
  // Another writer has begun to hold one more.
  Write(6);
  list.external = Pods(2);
  ShowAfterGap(6);
  CHECK(charges.Held() == Pods(1));
}

TEST_CASE_METHOD(
    Charged,
    "external charges: a first count replaces the hold by the amount that it does not explain",
    "[accounting]") {
  list.used = Pods(5);
  list.external = Pods(3);
  ShowAfterGap(5);
  CHECK(charges.Held() == Pods(3));
  charges.OnFirstCount({}, Pods(5), &list, Nothing);
  CHECK(charges.Held() == Pods(3));  // the name is not counted yet
  charges.OnFirstCount({}, Pods(5), &list, Counted(4));
  CHECK(charges.Held() == Pods(1));
  charges.OnFirstCount({}, Pods(5), &list, Counted(5));
  CHECK(charges.Held() == Pods(1));  // only the first count is compared
}

TEST_CASE_METHOD(
    Charged,
    "external charges: a first count keeps a rise that was held before a list that records none",
    "[accounting]") {
  charges.OnUnanswered(Pods(0));  // our first recount, which the watch shows before its answer
  ShowBare(2);
  CHECK(charges.Held() == Pods(2));
  list.used = Pods(2);
  const int counted = GENERATE(0, 1);
  charges.OnFirstCount({}, Pods(2), &list, Counted(counted));
  CHECK(charges.Held() == Pods(2 - counted));
}

TEST_CASE_METHOD(Charged, "external charges: a first count holds at most what the list shows",
                 "[accounting]") {
  list.used = Pods(5);
  list.external = Pods(1);
  charges.OnFirstCount({}, Pods(7), &list, Counted(2));
  CHECK(charges.Held() == Pods(3));
}

TEST_CASE_METHOD(Charged,
                 "external charges: without its list, a quota is compared with its count again",
                 "[accounting]") {
  Begin(5);
  charges.OnFirstCount({}, Pods(5), &list, Counted(5));
  CHECK(charges.Held().empty());
  ShowBare(5, Counted(3));
  charges.OnFirstCount({}, Pods(5), nullptr, Counted(3));
  CHECK(charges.Held() == Pods(2));
}

TEST_CASE_METHOD(Charged, "external charges: only a leader lowers what the list records",
                 "[accounting]") {
  list.used = Pods(5);
  list.external = Pods(2);
  Show(5, Counted(5));
  CHECK(charges.ToRecord(Pods(6), &list, true) == Pods(3));
  CHECK(charges.ToRecord(Pods(6), nullptr, true).empty());
  charges.Lead({}, true, Pods(5), &list, Counted(4));
  CHECK(charges.ToRecord(Pods(6), &list, true) == Pods(1));
  // It has just lost the lease.
  CHECK(charges.ToRecord(Pods(6), &list, false) == Pods(3));
}

TEST_CASE_METHOD(Charged,
                 "external charges: a new leader takes over only the unexplained part of a hold",
                 "[accounting]") {
  list.used = Pods(5);
  list.external = Pods(2);
  charges.Lead({}, true, Pods(5), &list, Counted(4));
  CHECK(charges.Held() == Pods(1));
}

TEST_CASE_METHOD(Charged,
                 "external charges: a new leader holds again what lapsed while it followed",
                 "[accounting]") {
  ShowBare(0, Counted(0));
  ShowBare(3, Counted(0));
  charges.Lapse(now + 9s, 10s);
  CHECK(charges.Held() == Pods(3));
  charges.Lapse(now + 10s, 10s);
  CHECK(charges.Held().empty());
  charges.Lead(now + 20s, true, Pods(3), nullptr, Counted(2));
  CHECK(charges.Held() == Pods(1));
  CHECK(charges.Oldest() == now + 20s);
  // Once: the second time the server was asked.
  CHECK(charges.Expire(now + 30s, 10s, ShownUntil(now + 30s)) == 1);
  charges.Lead(now + 30s, false, Pods(3), nullptr, Counted(2));
  charges.Lead(now + 30s, true, Pods(3), nullptr, Counted(2));
  CHECK(charges.Held().empty());
}

TEST_CASE_METHOD(
    Charged,
    "external charges: after a list that was not shown, all that the next one records is held",
    "[accounting]") {
  list.writes = 4;
  list.used = Pods(5);
  list.external = Pods(2);
  ShowAfterGap(5, Counted(3));
  Appear(2);
  CHECK(charges.Held().empty());
  list.writes = 5;
  SECTION("the same usage, in the next list") {
    ShowAfterGap(5, Counted(3));
    CHECK(charges.Held().empty());
  }
  SECTION("other usage: a list without it was between them") {
    list.writes = 6;
    ShowAfterGap(5, Counted(3));
    CHECK(charges.Held() == Pods(2));
  }
}

TEST_CASE_METHOD(Charged,
                 "external charges: a rise before the first list is held, without its reservations",
                 "[accounting]") {
  ShowBare(1, Counted(1));
  list.used = Pods(7);
  list.Add({.by = "a", .n = 1, .of = "pods", .usage = Pods(2), .objects = {Object(1)}});
  ShowAfterGap(7, Counted(3));
  CHECK(charges.Held() == Pods(4));
}

TEST_CASE_METHOD(
    Charged,
    "external charges: an object that is older than the external write uses up nothing of it",
    "[accounting]") {
  ShowBare(0, Counted(0), "10");
  ShowBare(3, Counted(0), "20");
  Appear(1, "19");
  CHECK(charges.Held() == Pods(3));
  Appear(1, "21");
  CHECK(charges.Held() == Pods(2));
  // Versions that cannot be ordered.
  Appear(1, "z");
  CHECK(charges.Held() == Pods(1));
}

}  // namespace external_charges_test
