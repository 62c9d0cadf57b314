// What is charged in advance: for a crowd, by the leader, and not for long.

#include "tests/controllers/quota/charging_fixture.h"

namespace advance_test {

using namespace std::chrono_literals;
using fixture::ChargingFixture;
using fixture::kPods;
using fixture::kQuotas;
using fixture::MakeQuota;
using fixture::PodWithUid;

namespace {

struct AdvanceFixture : ChargingFixture {
  explicit AdvanceFixture(controllers::QuotaControllerOptions options = {})
      : ChargingFixture(std::move(options)) {
    cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10k"}}));
    RunFor(1s);
  }
  // One each ten milliseconds, and each is stored.
  void Crowd(int creations) {
    for (int i = 0; i < creations; ++i) {
      const json::Value pod = PodWithUid("p" + std::to_string(created++));
      Review(pod);
      RunFor(10ms);
      cluster.Put(kPods, pod);
    }
  }
  void CrowdUntilAdvance() {
    for (int i = 0; i < 50 && recorder.advances == 0; ++i) Crowd(1);
    REQUIRE(recorder.advances == 1);
  }
  [[nodiscard]] bool AllAdmitted() const {
    return std::ranges::all_of(answers, [](const auto& answer) {
      return answer && answer->kind == admission::Answer::Kind::kAllowed;
    });
  }
  int created = 0;
};

controllers::QuotaControllerOptions WithAdvances(quota::AdvanceOptions advance) {
  controllers::QuotaControllerOptions options;
  options.advance = advance;
  return options;
}

}  // namespace

TEST_CASE("advance: a crowd is admitted with few writes, and what it leaves is given back",
          "[controllers]") {
  AdvanceFixture f;
  f.cluster.writes.clear();
  f.Crowd(200);
  CHECK(f.AllAdmitted());
  CHECK(f.cluster.writes.size() < 40);  // 16 alone, then one for some twenty
  CHECK(f.recorder.advances > 3);
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=200");
  CHECK(f.controller->charges_held() == 0);
}

TEST_CASE("advance: nothing is charged in advance where that is off, or by one who follows",
          "[controllers]") {
  AdvanceFixture off(WithAdvances({.crowd = 0}));
  off.Crowd(60);
  CHECK(off.recorder.advances == 0);
  CHECK(off.AllAdmitted());

  bool leading = true;
  controllers::QuotaControllerOptions options;
  options.leading = [&leading] { return leading; };
  AdvanceFixture following(std::move(options));
  leading = false;
  following.Crowd(60);
  CHECK(following.recorder.advances == 0);
  CHECK(following.AllAdmitted());
}

TEST_CASE("advance: who lowers used takes the advance with it", "[controllers]") {
  AdvanceFixture f;
  f.Crowd(60);
  REQUIRE(f.recorder.advances > 0);
  REQUIRE(f.Used("q") != "pods=60");
  // A recount by somebody who knows of no charges.
  f.WriteStatus("q", {{"pods", "10k"}}, {{"pods", "60"}});
  f.RunFor(5ms);
  f.cluster.writes.clear();
  f.Review(PodWithUid("next"));
  f.RunFor(10ms);
  CHECK(f.AllAdmitted());
  CHECK(f.cluster.writes.size() == 1);
  CHECK(f.Used("q") == "pods=61");
}

TEST_CASE("advance: one that was lowered before its write was answered is never granted",
          "[controllers]") {
  AdvanceFixture f;
  f.recorder.when_advance = [&f] { f.cluster.patch_answer_delay = 40ms; };
  f.CrowdUntilAdvance();
  // It is written, and not answered. Somebody lowers `used`, and charges as much for their own.
  const int written = std::stoi(f.Used("q").substr(std::string("pods=").size()));
  REQUIRE(written > f.created);
  f.WriteStatus("q", {{"pods", "10k"}}, {{"pods", std::to_string(f.created)}});
  f.WriteStatus("q", {{"pods", "10k"}}, {{"pods", std::to_string(written)}});
  f.RunFor(50ms);
  f.cluster.patch_answer_delay = {};
  f.cluster.writes.clear();
  f.Review(PodWithUid("next"));
  f.RunFor(10ms);
  CHECK(f.AllAdmitted());
  CHECK(f.cluster.writes.size() == 1);
  CHECK(f.Used("q") == "pods=" + std::to_string(written + 1));
}

TEST_CASE("advance: with a write of admission it is gone", "[controllers]") {
  AdvanceFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10k"}, {"requests.cpu", "10k"}}));
  f.Crowd(60);
  REQUIRE(f.recorder.advances > 0);
  json::Value large = PodWithUid("large");
  large.Make({"spec", "containers"}) = json::Array{json::Object{
      {"name", "c"}, {"resources", json::Object{{"requests", json::Object{{"cpu", "100"}}}}}}};
  f.Review(large);
  f.RunFor(5ms);
  CHECK(f.Used("q") == "pods=61,requests.cpu=106");
  f.cluster.writes.clear();
  f.Review(PodWithUid("next"));
  f.RunFor(1ms);
  CHECK(f.AllAdmitted());
  CHECK(f.cluster.writes.size() == 1);
}

TEST_CASE("advance: what is granted of it is let go ten seconds after it was charged",
          "[controllers]") {
  AdvanceFixture f(WithAdvances({.idle = 5s}));
  base::TimePoint charged;
  f.recorder.when_advance = [&] { charged = f.scheduler.Now(); };
  f.CrowdUntilAdvance();
  const auto run_until = [&](base::Duration after) {
    f.RunFor(charged + after - f.scheduler.Now());
  };
  run_until(1900ms);
  f.cluster.writes.clear();
  f.Review(PodWithUid("never-stored"));
  run_until(1990ms);
  CHECK(f.AllAdmitted());
  CHECK(f.cluster.writes.empty());
  run_until(9900ms);
  CHECK(f.Used("q") == "pods=" + std::to_string(f.created + 1));
  run_until(10100ms);
  CHECK(f.Used("q") == "pods=" + std::to_string(f.created));
}

TEST_CASE("advance: nothing is charged in advance while a name cannot be counted",
          "[controllers]") {
  AdvanceFixture f;
  f.cluster.SetStale("apps", true);
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10k"}, {"count/deployments.apps", "5"}}));
  f.RunFor(1s);
  f.Crowd(60);
  CHECK(f.AllAdmitted());
  CHECK(f.recorder.advances == 0);
}

TEST_CASE("advance: what is used no more is given back before anything is charged in advance",
          "[controllers]") {
  AdvanceFixture f;
  std::string used;
  f.recorder.when_advance = [&] { used = f.Used("q"); };
  f.Crowd(15);
  REQUIRE(f.recorder.advances == 0);
  f.cluster.patch_answer_delay = 5ms;
  f.Review(PodWithUid("last"));
  f.RunFor(1ms);  // its charge is being written
  f.cluster.Delete(kPods, "team-a", "p0");
  f.RunFor(20ms);
  CHECK(f.recorder.advances == 0);
  CHECK(f.Used("q") == "pods=15");
  f.cluster.patch_answer_delay = {};
  f.Crowd(1);
  CHECK(f.recorder.advances == 1);
  CHECK(used == "pods=16");
}

TEST_CASE("advance: a status that is not true yet is put right first", "[controllers]") {
  AdvanceFixture f;
  f.cluster.Hold(kPods);  // what is stored is not shown, and its charges stay
  f.Crowd(60);
  CHECK(f.AllAdmitted());
  f.cluster.Release(kPods);
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=60");
  f.RunFor(15s);
  CHECK(f.Used("q") == "pods=60");
}

}  // namespace advance_test
