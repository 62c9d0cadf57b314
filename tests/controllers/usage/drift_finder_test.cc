#include "controllers/usage/drift_finder.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>

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

const Uid kA{1};
const Uid kB{2};
const Uid kC{3};

// A ledger with A and B of 100m each in namespace "ns", both in version 1.
struct DriftFixture {
  DriftFixture() {
    ledger.Set("ns", kA, Pods(100), 1);
    ledger.Set("ns", kB, Pods(100), 1);
    finder.emplace(ledger);
  }
  void List(const Uid& uid, quota::VersionMark version) {
    finder->OnListed({"ns", "name"}, uid, version);
  }
  void EndList() {
    while (finder->LookForVanished()) continue;
  }
  DriftReport Settle() {
    DriftReport report;
    while (finder->Settle(report)) continue;
    return report;
  }

  Ledger ledger;
  std::optional<DriftFinder> finder;
};

}  // namespace

TEST_CASE_METHOD(DriftFixture, "drift: a list that agrees has no suspects", "[controllers]") {
  List(kA, 1);
  List(kB, 1);
  EndList();
  CHECK_FALSE(finder->HasSuspects());
  CHECK(finder->Unread(9).empty());
  const DriftReport report = Settle();
  CHECK(report.listed == 2);
  CHECK(report.drift.objects() == 0);
  CHECK(report.changes.empty());
}

TEST_CASE_METHOD(DriftFixture,
                 "drift: missing, vanished and different objects are reported separately",
                 "[controllers]") {
  List(kA, 2);
  List(kC, 1);
  EndList();
  CHECK(finder->Unread(9).size() == 2);
  CHECK(finder->Unread(1).size() == 1);
  finder->OnRead(kA, Pods(300), 2);
  finder->OnRead(kC, Pods(50), 1);
  CHECK(finder->Unread(9).empty());
  const DriftReport report = Settle();
  CHECK(report.drift.different == 1);
  CHECK(report.drift.missing == 1);
  CHECK(report.drift.vanished == 1);
  CHECK(report.usage.ToString() == "cpu=350m,pods=2");  // 200m more, 50m new, 100m gone
  CHECK(ledger.Sum({.ns = "ns"}, {}, {}, {"cpu", "pods"})->ToString() == "cpu=350m,pods=2");
}

TEST_CASE_METHOD(DriftFixture, "drift: an object with another tie is different", "[controllers]") {
  quota::ObjectFacts tied = Pods(100);
  tied.tie = quota::Tie{.owner = std::nullopt, .name = "claim", .created = ""};
  List(kA, 2);
  List(kB, 1);
  EndList();
  finder->OnRead(kA, tied, 2);
  CHECK(Settle().drift.different == 1);
  REQUIRE(ledger.FindTie("ns", kA) != nullptr);

  finder.emplace(ledger);
  List(kA, quota::kNoVersion);
  finder->OnRead(kA, tied, 2);
  List(kB, 1);
  EndList();
  CHECK_FALSE(finder->HasSuspects());
}

TEST_CASE_METHOD(DriftFixture,
                 "drift: a new version with the same facts is recorded, and is no drift",
                 "[controllers]") {
  List(kA, 2);
  List(kB, 1);
  EndList();
  finder->OnRead(kA, Pods(100), 2);
  CHECK_FALSE(finder->HasSuspects());
  CHECK(Settle().drift.objects() == 0);

  finder.emplace(ledger);
  List(kA, 2);
  List(kB, 1);
  EndList();
  CHECK_FALSE(finder->HasSuspects());
}

TEST_CASE_METHOD(DriftFixture, "drift: an object without a version is always read",
                 "[controllers]") {
  ledger.Set("ns", kA, Pods(100), quota::kNoVersion);
  finder.emplace(ledger);
  List(kA, quota::kNoVersion);
  List(kB, 1);
  EndList();
  CHECK(finder->IsUnread(kA));
  CHECK_FALSE(finder->IsUnread(kB));
}

TEST_CASE_METHOD(DriftFixture, "drift: an object with an event before its page is not a suspect",
                 "[controllers]") {
  ledger.Remove("ns", kA);
  finder->OnEvent(kA);
  List(kA, 1);  // a page from before the deletion
  List(kB, 1);
  EndList();
  CHECK_FALSE(finder->HasSuspects());
  Settle();
  CHECK(ledger.Find("ns", kA) == nullptr);
}

TEST_CASE_METHOD(DriftFixture, "drift: an event after the list clears its suspect",
                 "[controllers]") {
  List(kA, 1);
  List(kB, 1);
  List(kC, 1);
  EndList();
  REQUIRE(finder->HasSuspects());
  ledger.Set("ns", kC, Pods(100), 1);  // the watch catches up
  finder->OnEvent(kC);
  CHECK_FALSE(finder->HasSuspects());
  finder->OnRead(kC, Pods(700), 1);  // the late answer to an earlier read
  CHECK(Settle().drift.objects() == 0);
  CHECK(ledger.Sum({.ns = "ns"}, {}, {}, {"cpu"})->ToString() == "cpu=300m");
}

TEST_CASE_METHOD(DriftFixture, "drift: a list that starts again forgets its first part",
                 "[controllers]") {
  List(kC, 1);
  finder->OnRestart();
  List(kA, 1);
  List(kB, 1);
  EndList();
  CHECK_FALSE(finder->HasSuspects());
  CHECK(Settle().listed == 2);
}

TEST_CASE_METHOD(DriftFixture, "drift: an object that cannot be read keeps its recorded facts",
                 "[controllers]") {
  List(kA, 2);
  List(kB, 1);
  EndList();
  CHECK(finder->HasSuspects());
  CHECK(Settle().drift.objects() == 0);
  CHECK(ledger.Find("ns", kA) != nullptr);
}

TEST_CASE_METHOD(DriftFixture,
                 "drift: an object that is read live exists, even if the list lacked it",
                 "[controllers]") {
  List(kB, 1);
  EndList();
  finder->OnRead(kA, Pods(100), 1);
  CHECK(Settle().drift.objects() == 0);
  CHECK(ledger.Find("ns", kA) != nullptr);
}

TEST_CASE_METHOD(DriftFixture, "drift: many repairs are made in steps", "[controllers]") {
  for (std::uint64_t i = 0; i < 1'000; ++i) List({100 + i}, 1);
  EndList();
  for (std::uint64_t i = 0; i < 1'000; ++i) finder->OnRead({100 + i}, Pods(100), 1);
  DriftReport report;
  std::size_t most = 0;
  for (bool more = true; more;) {
    const std::size_t before = report.changes.size();
    more = finder->Settle(report);
    most = std::max(most, report.changes.size() - before);
  }
  CHECK(report.drift.missing == 1'000);
  CHECK(report.drift.vanished == 2);
  CHECK(most <= 64);
}

}  // namespace drift_finder_test
