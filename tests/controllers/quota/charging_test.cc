// Admission charges an object once. The charge is held until the object is seen, and expires when
// it cannot be stored any more.

#include "tests/controllers/quota/charging_fixture.h"

using namespace std::chrono_literals;
using fixture::ChargingFixture;
using fixture::kPods;
using fixture::kQuotas;
using fixture::MakePod;
using fixture::MakeQuota;
using fixture::PodWithUid;

TEST_CASE("charging: an admitted object is in used before it is stored, and counts once",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "2"}, {"cpu", "1"}}));
  f.RunFor(1s);
  f.cluster.writes.clear();
  CHECK(f.Admits(PodWithUid("a")));
  CHECK(f.Used("q") == "cpu=100m,pods=1");
  CHECK(f.Reserved() == 1);
  f.cluster.Put(kPods, PodWithUid("a"));
  f.RunFor(1s);
  CHECK(f.Used("q") == "cpu=100m,pods=1");
  CHECK(f.cluster.writes.size() == 1);  // the admission's, and none of the controller
  f.RunFor(3s);
  CHECK(f.Reserved() == 0);
  CHECK(f.cluster.writes.size() == 2);  // no other request came, so the settled entry was removed
  CHECK(f.Used("q") == "cpu=100m,pods=1");

  CHECK(f.Admits(PodWithUid("b")));
  CHECK_FALSE(f.Admits(PodWithUid("c")));
  f.RunFor(1min);
  CHECK(f.Used("q") == "cpu=100m,pods=1");
}

TEST_CASE("charging: a late call about an outdated version is not charged", "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"cpu", "500m"}}));
  f.cluster.Put(kPods, PodWithUid("a"));
  f.RunFor(1s);
  const json::Value first = *f.cluster.Find(kPods, "team-a", "a");
  CHECK(f.Resizes(first, "400m"));
  CHECK(f.Used("q") == "cpu=400m");
  json::Value resized = MakePod("a", "400m");
  resized.Make({"metadata", "uid"}) = "uid-of-a";
  f.cluster.Put(kPods, resized);
  f.RunFor(3s);
  CHECK(f.Reserved() == 0);

  CHECK(f.Resizes(first, "500m"));
  CHECK(f.Used("q") == "cpu=400m");
  const json::Value second = *f.cluster.Find(kPods, "team-a", "a");
  CHECK_FALSE(f.Resizes(second, "600m"));
  CHECK(f.Resizes(second, "500m"));
  CHECK(f.Used("q") == "cpu=500m");
}

TEST_CASE("charging: a late call about a deleted object is not charged", "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"cpu", "500m"}}));
  f.cluster.Put(kPods, PodWithUid("a"));
  f.RunFor(1s);
  const json::Value last = *f.cluster.Find(kPods, "team-a", "a");
  f.cluster.Delete(kPods, "team-a", "a");
  f.RunFor(1s);
  CHECK(f.Resizes(last, "400m"));
  CHECK(f.Used("q") == "cpu=0");
}

TEST_CASE("charging: a charge for an object that is never stored expires after 15 s",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}}));
  f.RunFor(1s);
  for (const char* name : {"a", "b", "c"}) CHECK(f.Admits(PodWithUid(name)));
  f.RunFor(14s);
  CHECK(f.Used("q") == "pods=3");
  f.RunFor(2s);
  CHECK(f.Used("q") == "pods=0");
  CHECK(f.recorder.external_expired == 0);
}

TEST_CASE("charging: a charge for an object that never appears cannot be renewed forever",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}}));
  f.RunFor(1s);
  REQUIRE(f.Admits(PodWithUid("a")));
  // No API server calls for one creation for that long.
  for (int second = 1; second <= 30; ++second) {
    f.Review(PodWithUid("a"));
    f.RunFor(1s);
    if (second < 14) CHECK(f.answers.back()->kind == admission::Answer::Kind::kAllowed);
  }
  CHECK(f.answers.back()->kind != admission::Answer::Kind::kAllowed);
  CHECK(f.Used("q") == "pods=0");
  // Other objects are not affected.
  CHECK(f.Admits(PodWithUid("b")));
  CHECK(f.Used("q") == "pods=1");
}

TEST_CASE("charging: the age of a charge begins with its write, not with the answer",
          "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "5"}}));
  f.RunFor(1s);
  f.cluster.patch_answer_delay = 4s;
  f.Review(PodWithUid("a"));
  f.RunFor(4'500ms);
  REQUIRE(f.answers[0].has_value());
  CHECK(f.answers[0]->kind == admission::Answer::Kind::kAllowed);
  f.cluster.patch_answer_delay = 0s;
  f.RunFor(10s);
  CHECK(f.Used("q") == "pods=1");
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=0");
}

TEST_CASE("charging: a recount keeps the charges of admission", "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10"}}));
  f.cluster.Put(kPods, PodWithUid("old"));
  f.RunFor(1s);
  CHECK(f.Admits(PodWithUid("new")));
  f.cluster.Delete(kPods, "team-a", "old");
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=1");
  f.cluster.Put(kPods, PodWithUid("new"));
  f.cluster.Delete(kPods, "team-a", "new");
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=0");
}

TEST_CASE("charging: a deleted quota limits no request", "[controllers]") {
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "3"}}));
  f.RunFor(1s);
  f.cluster.Hold(kQuotas);
  f.cluster.Delete(kQuotas, "team-a", "q");
  CHECK(f.Admits(PodWithUid("a")));
}

TEST_CASE("charging: a name enters status.hard once admission guards it", "[controllers]") {
  bool guarded = false;
  controllers::QuotaControllerOptions options;
  options.guarded = [&](const quota::Evaluator& evaluator, const api::ObjectKey&) {
    return guarded || evaluator.resource.resource == "secrets";
  };
  ChargingFixture f(options);
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "3"}, {"secrets", "1"}}));
  f.RunFor(30s);
  CHECK(f.Hard("q") == "secrets=1");
  CHECK(f.Used("q") == "secrets=0");
  guarded = true;
  f.controller->OnGuards();
  f.RunFor(1s);
  CHECK(f.Hard("q") == "pods=3,secrets=1");
  CHECK(f.Used("q") == "pods=0,secrets=0");
  guarded = false;  // a removed rule does not remove the limit
  f.controller->OnGuards();
  f.RunFor(1s);
  CHECK(f.Hard("q") == "pods=3,secrets=1");
}
