#include "controllers/quota/drift_finder.h"

#include <catch2/catch.hpp>

namespace drift_finder_test {

using controllers::DriftFinder;
using controllers::DriftReport;
using quota::Ledger;
using quota::ObjectFacts;
using quota::Quantity;
using quota::Uid;

namespace {

ObjectFacts Pods(int milli_cpu) {
  ObjectFacts facts;
  facts.now.usage.Set("pods", Quantity::FromInt(1));
  facts.now.usage.Set("cpu", *Quantity::Parse(std::to_string(milli_cpu) + "m"));
  return facts;
}

const Uid kA{0, 1};
const Uid kB{0, 2};
const Uid kC{0, 3};

// A ledger that holds A and B of 100m each in namespace "ns".
struct DriftFixture {
  DriftFixture() {
    ledger.Set("ns", kA, Pods(100));
    ledger.Set("ns", kB, Pods(100));
  }
  Ledger ledger;
  DriftFinder finder{ledger};
};

}  // namespace

TEST_CASE_METHOD(DriftFixture, "drift: a list that agrees has no suspects", "[controllers]") {
  finder.OnListed("ns", kA, Pods(100));
  finder.OnListed("ns", kB, Pods(100));
  finder.OnListEnd();
  CHECK_FALSE(finder.HasSuspects());
  const DriftReport report = finder.Settle();
  CHECK(report.listed == 2);
  CHECK(report.drift.objects() == 0);
  CHECK(report.changes.empty());
}

TEST_CASE_METHOD(DriftFixture, "drift: missing, vanished and different objects are told apart",
                 "[controllers]") {
  finder.OnListed("ns", kA, Pods(300));
  finder.OnListed("ns", kC, Pods(50));
  finder.OnListEnd();
  const DriftReport report = finder.Settle();
  CHECK(report.drift.different == 1);
  CHECK(report.drift.missing == 1);
  CHECK(report.drift.vanished == 1);
  CHECK(report.usage.ToString() == "cpu=350m,pods=2");  // 200m more, 50m new, 100m gone
  CHECK(ledger.Sum("ns", {}, {}, {"cpu", "pods"})->ToString() == "cpu=350m,pods=2");
}

TEST_CASE_METHOD(DriftFixture, "drift: an object with another tie is different", "[controllers]") {
  quota::ObjectFacts tied = Pods(100);
  tied.tie = quota::Tie{.owner = std::nullopt, .name = "claim", .created = ""};
  finder.OnListed("ns", kA, tied);
  finder.OnListed("ns", kB, Pods(100));
  finder.OnListEnd();
  CHECK(finder.Settle().drift.different == 1);
  REQUIRE(ledger.FindTie("ns", kA) != nullptr);

  DriftFinder again(ledger);
  again.OnListed("ns", kA, tied);
  again.OnListed("ns", kB, Pods(100));
  again.OnListEnd();
  CHECK_FALSE(again.HasSuspects());
}

TEST_CASE_METHOD(DriftFixture, "drift: an event before its page leaves the object to the events",
                 "[controllers]") {
  ledger.Remove("ns", kA);
  finder.OnEvent(kA);
  finder.OnListed("ns", kA, Pods(100));  // a page from before the deletion
  finder.OnListed("ns", kB, Pods(100));
  finder.OnListEnd();
  CHECK_FALSE(finder.HasSuspects());
  finder.Settle();
  CHECK(ledger.Find("ns", kA) == nullptr);
}

TEST_CASE_METHOD(DriftFixture, "drift: an event after the list clears its suspect",
                 "[controllers]") {
  finder.OnListed("ns", kA, Pods(100));
  finder.OnListed("ns", kB, Pods(100));
  finder.OnListed("ns", kC, Pods(100));
  finder.OnListEnd();
  REQUIRE(finder.HasSuspects());
  ledger.Set("ns", kC, Pods(100));  // the watch catches up
  finder.OnEvent(kC);
  CHECK_FALSE(finder.HasSuspects());
  CHECK(finder.Settle().drift.objects() == 0);
}

TEST_CASE_METHOD(DriftFixture, "drift: a list that starts over forgets its first half",
                 "[controllers]") {
  finder.OnListed("ns", kC, Pods(100));
  finder.OnRestart();
  finder.OnListed("ns", kA, Pods(100));
  finder.OnListed("ns", kB, Pods(100));
  finder.OnListEnd();
  CHECK_FALSE(finder.HasSuspects());
  CHECK(finder.Settle().listed == 2);
}

TEST_CASE_METHOD(DriftFixture, "drift: an object that cannot be read is not taken for gone",
                 "[controllers]") {
  finder.OnListedUnreadable(kA);
  finder.OnListed("ns", kB, Pods(100));
  finder.OnListEnd();
  CHECK_FALSE(finder.HasSuspects());
  finder.Settle();
  CHECK(ledger.Find("ns", kA) != nullptr);
}

}  // namespace drift_finder_test
