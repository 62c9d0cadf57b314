// What is reserved for a crowd before it comes: by any replica, and not for long.

#include "tests/controllers/quota/charging_fixture.h"

namespace burst_test {

using namespace std::chrono_literals;
using fixture::ChargingFixture;
using fixture::kPods;
using fixture::kQuotas;
using fixture::MakeQuota;
using fixture::PodWithUid;

namespace {

struct BurstFixture : ChargingFixture {
  explicit BurstFixture(controllers::QuotaControllerOptions options = {})
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
  void CrowdUntilBurst() {
    for (int i = 0; i < 50 && recorder.bursts == 0; ++i) Crowd(1);
    REQUIRE(recorder.bursts == 1);
  }
  [[nodiscard]] bool AllAdmitted() const {
    return std::ranges::all_of(answers, [](const auto& answer) {
      return answer && answer->kind == admission::Answer::Kind::kAllowed;
    });
  }
  int created = 0;
};

controllers::QuotaControllerOptions WithoutBursts() {
  controllers::QuotaControllerOptions options;
  options.crowd = {.crowd = 0};
  return options;
}

}  // namespace

TEST_CASE("burst: a crowd is admitted with few writes, and what it leaves is given back",
          "[controllers]") {
  BurstFixture f;
  f.cluster.writes.clear();
  f.Crowd(200);
  CHECK(f.AllAdmitted());
  CHECK(f.cluster.writes.size() < 40);  // 16 alone, then one for some twenty
  CHECK(f.recorder.bursts > 3);
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=200");
  f.RunFor(3s);
  CHECK(f.Used("q") == "pods=200");
  CHECK(f.Reserved() == 0);
}

TEST_CASE("burst: nothing is reserved for those to come where that is off", "[controllers]") {
  BurstFixture f(WithoutBursts());
  f.Crowd(60);
  CHECK(f.recorder.bursts == 0);
  CHECK(f.AllAdmitted());
}

TEST_CASE("burst: who follows does it as well, and gives back what is left", "[controllers]") {
  bool leading = true;
  controllers::QuotaControllerOptions options;
  options.leading = [&leading] { return leading; };
  BurstFixture f(std::move(options));
  leading = false;
  f.cluster.writes.clear();
  f.Crowd(60);
  CHECK(f.recorder.bursts > 0);
  CHECK(f.AllAdmitted());
  CHECK(f.cluster.writes.size() < 40);
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=60");
}

TEST_CASE("burst: who lowers used takes nothing of it", "[controllers]") {
  BurstFixture f;
  f.CrowdUntilBurst();
  // A recount by somebody who knows of no reservations.
  f.WriteStatus("q", {{"pods", "10k"}}, {{"pods", std::to_string(f.created)}});
  f.RunFor(5ms);
  f.Review(PodWithUid("next"));
  f.RunFor(10ms);
  CHECK(f.AllAdmitted());
  f.cluster.Put(kPods, PodWithUid("next"));
  f.RunFor(5s);
  CHECK(f.Used("q") == "pods=" + std::to_string(f.created + 1));
}

TEST_CASE("burst: the next write of admission gives back what is left of it", "[controllers]") {
  BurstFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10k"}, {"requests.cpu", "10k"}}));
  f.CrowdUntilBurst();
  json::Value large = PodWithUid("large");
  large.Make({"spec", "containers"}) = json::Array{json::Object{
      {"name", "c"}, {"resources", json::Object{{"requests", json::Object{{"cpu", "100"}}}}}}};
  f.Review(large);
  f.RunFor(5ms);
  CHECK(f.AllAdmitted());
  CHECK(f.Used("q").starts_with("pods=" + std::to_string(f.created + 1) + ",requests.cpu=10"));
}

TEST_CASE("burst: what is granted of it ends as what is reserved by a write does",
          "[controllers]") {
  BurstFixture f;
  f.CrowdUntilBurst();
  f.cluster.writes.clear();
  f.Review(PodWithUid("never-stored"));
  f.RunFor(5ms);
  CHECK(f.AllAdmitted());
  CHECK(f.cluster.writes.empty());
  f.RunFor(9s);
  CHECK(f.Used("q") == "pods=" + std::to_string(f.created + 1));
  f.RunFor(3s);
  CHECK(f.Used("q") == "pods=" + std::to_string(f.created));
}

TEST_CASE("burst: what is stored and not shown stays reserved", "[controllers]") {
  BurstFixture f;
  f.cluster.Hold(kPods);
  f.Crowd(60);
  CHECK(f.AllAdmitted());
  f.RunFor(5s);
  CHECK(f.Used("q") == "pods=60");
  f.cluster.Release(kPods);
  f.RunFor(5s);
  CHECK(f.Used("q") == "pods=60");
  CHECK(f.Reserved() == 0);
}

}  // namespace burst_test
