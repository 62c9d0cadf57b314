// Reservations in advance for many creations. Any replica makes them, and returns the unused part.

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
  // Creates one pod every ten milliseconds. Each is stored.
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
  // Reviews these pods at once. Somebody else changes the quota before each of the first writes.
  // Returns how often the quota was read.
  int ReviewWithConflicts(const std::vector<json::Value>& pods, int conflicts) {
    int reads = 0;
    cluster.fault = [&](const client::ApiRequest& request) -> std::optional<base::Error> {
      if (request.path.find("/resourcequotas/q") == std::string::npos) return std::nullopt;
      if (request.verb == "GET") ++reads;
      if (request.verb == "PATCH" && conflicts-- > 0) {
        json::Value other = *cluster.Find(kQuotas, "team-a", "q");
        other.Make({"metadata", "labels", "changed"}) = std::to_string(conflicts);
        cluster.Put(kQuotas, other);
      }
      return std::nullopt;
    };
    cluster.patch_answer_delay = 5ms;
    for (const json::Value& pod : pods) Review(pod);
    RunFor(150ms);
    cluster.fault = nullptr;
    return reads;
  }
  [[nodiscard]] bool AllAdmitted() const {
    return std::ranges::all_of(answers, [](const auto& answer) {
      return answer && answer->kind == admission::Answer::Kind::kAllowed;
    });
  }
  int created = 0;
};

json::Value LargePod(const std::string& name) {
  json::Value large = PodWithUid(name);
  large.Make({"spec", "containers"}) = json::Array{json::Object{
      {"name", "c"}, {"resources", json::Object{{"requests", json::Object{{"cpu", "100"}}}}}}};
  return large;
}

controllers::QuotaControllerOptions WithoutBursts() {
  controllers::QuotaControllerOptions options;
  options.crowd = {.crowd = 0};
  return options;
}

}  // namespace

TEST_CASE("burst: many creations are admitted with few writes, and unused amounts are returned",
          "[controllers]") {
  BurstFixture f;
  f.cluster.writes.clear();
  f.Crowd(200);
  CHECK(f.AllAdmitted());
  CHECK(f.cluster.writes.size() < 40);  // 16 single ones, then one for about twenty pods
  CHECK(f.recorder.bursts > 3);
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=200");
  f.RunFor(3s);
  CHECK(f.Used("q") == "pods=200");
  CHECK(f.Reserved() == 0);
}

TEST_CASE("burst: nothing is reserved in advance if the option is off", "[controllers]") {
  BurstFixture f(WithoutBursts());
  f.Crowd(60);
  CHECK(f.recorder.bursts == 0);
  CHECK(f.AllAdmitted());
}

TEST_CASE("burst: a replica that does not lead reserves and returns bursts, too", "[controllers]") {
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

TEST_CASE("burst: an external recount that lowers used does not remove the burst",
          "[controllers]") {
  BurstFixture f;
  f.CrowdUntilBurst();
  // A recount by a writer that knows no reservations.
  f.WriteStatus("q", {{"pods", "10k"}}, {{"pods", std::to_string(f.created)}});
  f.RunFor(5ms);
  f.Review(PodWithUid("next"));
  f.RunFor(10ms);
  CHECK(f.AllAdmitted());
  f.cluster.Put(kPods, PodWithUid("next"));
  f.RunFor(5s);
  CHECK(f.Used("q") == "pods=" + std::to_string(f.created + 1));
}

TEST_CASE("burst: the next write of admission returns the unused part", "[controllers]") {
  BurstFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10k"}, {"requests.cpu", "10k"}}));
  f.CrowdUntilBurst();
  f.Review(LargePod("large"));
  f.RunFor(5ms);
  CHECK(f.AllAdmitted());
  CHECK(f.Used("q").starts_with("pods=" + std::to_string(f.created + 1) + ",requests.cpu=10"));
}

TEST_CASE("burst: a write that gets a conflict is repeated, with no other write or read between",
          "[controllers]") {
  BurstFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10k"}, {"requests.cpu", "10k"}}));
  f.CrowdUntilBurst();
  f.cluster.writes.clear();
  const int reads = f.ReviewWithConflicts({LargePod("large")}, 1);
  CHECK(f.AllAdmitted());
  CHECK(reads == 0);
  CHECK(f.cluster.writes.size() == 2);
  CHECK(f.Used("q").starts_with("pods=" + std::to_string(f.created + 1) + ",requests.cpu=10"));
}

TEST_CASE("burst: every second conflict in a row has a read, because the watch may lag",
          "[controllers]") {
  BurstFixture f;
  CHECK(f.ReviewWithConflicts({LargePod("two")}, 2) == 1);
  CHECK(f.ReviewWithConflicts({LargePod("one")}, 1) == 0);
  CHECK(f.ReviewWithConflicts({LargePod("five")}, 5) == 2);
  CHECK(f.AllAdmitted());
}

TEST_CASE("burst: creations whose write meets conflicts are no crowd", "[controllers]") {
  BurstFixture f;
  f.ReviewWithConflicts({LargePod("a"), LargePod("b"), LargePod("c"), LargePod("d")}, 12);
  CHECK(f.AllAdmitted());
  CHECK(f.recorder.bursts == 0);
  CHECK(f.Used("q") == "pods=4");
}

TEST_CASE("burst: a grant from a burst expires like any other reservation", "[controllers]") {
  BurstFixture f;
  f.CrowdUntilBurst();
  f.cluster.writes.clear();
  f.Review(PodWithUid("never-stored"));
  f.RunFor(5ms);
  CHECK(f.AllAdmitted());
  CHECK(f.cluster.writes.empty());
  f.RunFor(14s);
  CHECK(f.Used("q") == "pods=" + std::to_string(f.created + 1));
  f.RunFor(3s);
  CHECK(f.Used("q") == "pods=" + std::to_string(f.created));
}

TEST_CASE("burst: one of two calls for the same object does not return its grant",
          "[controllers]") {
  BurstFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "10k"}, {"requests.cpu", "10k"}}));
  f.CrowdUntilBurst();
  f.cluster.writes.clear();
  f.Review(PodWithUid("twice"));
  f.RunFor(5ms);
  f.Review(PodWithUid("twice"));
  f.RunFor(5ms);
  CHECK(f.AllAdmitted());
  REQUIRE(f.cluster.writes.empty());
  const std::size_t given_up = GENERATE(1U, 2U);  // counted from the last grant
  const auto grant = f.book.drawn[f.book.drawn.size() - given_up];
  const bool written = GENERATE(false, true);
  if (written) f.Review(LargePod("large"));  // with this write it gets an entry of its own
  f.RunFor(5ms);
  f.book.Withdraw(grant);
  f.RunFor(3s);
  const std::string used = "pods=" + std::to_string(f.created + (written ? 2 : 1)) + ",";
  CHECK(f.Used("q").substr(0, used.size()) == used);
}

TEST_CASE("burst: a grant that both calls give up is returned", "[controllers]") {
  BurstFixture f;
  f.CrowdUntilBurst();
  f.Review(PodWithUid("twice"));
  f.RunFor(5ms);
  f.Review(PodWithUid("twice"));
  f.RunFor(5ms);
  for (std::size_t last : {1U, 2U}) {
    f.book.Withdraw(f.book.drawn[f.book.drawn.size() - last]);
  }
  f.RunFor(3s);
  CHECK(f.Used("q") == "pods=" + std::to_string(f.created));
}

TEST_CASE("burst: a stored object stays reserved until the watch shows it", "[controllers]") {
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

// Any creation counts as one of a crowd that many quotas share.
struct SharedCrowd : BurstFixture {
  SharedCrowd() : BurstFixture(Options()) {}
  static controllers::QuotaControllerOptions Options() {
    controllers::QuotaControllerOptions options;
    options.crowd.shared = 1;
    return options;
  }
  // Two creations. The second one reserves a burst for as many.
  void GrantSlowly() {
    const std::size_t before = recorder.bursts;
    for (int i = 0; i < 2; ++i) {
      RunFor(490ms);
      Crowd(1);
    }
    REQUIRE(recorder.bursts == before + 1);
    cluster.writes.clear();
  }
  // Its admission, and whether a write was needed.
  bool IsGrantedAtOnce(const std::string& pod) {
    const std::size_t writes = cluster.writes.size();
    Review(PodWithUid(pod));
    RunFor(5ms);
    REQUIRE(AllAdmitted());
    return cluster.writes.size() == writes;
  }
  [[nodiscard]] std::string List() {
    return std::string(
        cluster.Find(kQuotas, "team-a", "q")
            ->StringAt({"metadata", "annotations", "quota-controller-manager.io/reservations"}));
  }
};

TEST_CASE("burst: of a shared crowd, a quota with few creations keeps its burst for longer",
          "[controllers]") {
  SharedCrowd f;
  f.GrantSlowly();
  f.RunFor(2400ms);
  CHECK(f.cluster.writes.empty());  // none that only removes what has ended, either
  CHECK(f.IsGrantedAtOnce("later"));
  f.RunFor(1s);
  CHECK(f.Used("q") == "pods=3");  // the rest is given back
  CHECK(f.cluster.writes.size() == 1);
  CHECK_FALSE(f.IsGrantedAtOnce("too-late"));
}

// Otherwise the second grant would take the place of the first, and take it along when it is given
// up.
TEST_CASE("burst: as long as it lasts, it answers repeated calls for an object", "[controllers]") {
  SharedCrowd f;
  f.GrantSlowly();
  REQUIRE(f.IsGrantedAtOnce("twice"));
  f.RunFor(1500ms);
  const std::size_t drawn = f.book.drawn.size();
  REQUIRE(f.IsGrantedAtOnce("twice"));
  REQUIRE(f.book.drawn.size() == drawn + 1);
  f.book.Withdraw(f.book.drawn.back());
  f.RunFor(3s);
  CHECK(f.Used("q") == "pods=3");
}

TEST_CASE("burst: after it, a repeated call writes an entry of its own", "[controllers]") {
  SharedCrowd f;
  f.GrantSlowly();
  REQUIRE(f.IsGrantedAtOnce("twice"));
  f.RunFor(2600ms);
  CHECK_FALSE(f.IsGrantedAtOnce("twice"));
  f.RunFor(3s);
  CHECK(f.Used("q") == "pods=3");
}

TEST_CASE("burst: its entry is not held long enough for a webhook that is slower than before",
          "[controllers]") {
  SharedCrowd f;
  f.GrantSlowly();
  f.controller->SetSlowestWebhook(10s);
  CHECK_FALSE(f.IsGrantedAtOnce("later"));
}

// The watch of objects is ahead: the list has no entry of the object, but this process granted it.
TEST_CASE("burst: what it granted accounts for no external charge", "[controllers]") {
  SharedCrowd f;
  f.GrantSlowly();
  json::Value quota = *f.cluster.Find(kQuotas, "team-a", "q");
  const int used = std::stoi(std::string(quota.StringAt({"status", "used", "pods"})));
  quota.Make({"status", "used", "pods"}) = std::to_string(used + 1);
  f.cluster.Put(kQuotas, quota);  // somebody adds 1 for an object that is on its way
  f.RunFor(5ms);
  const json::Value pod = PodWithUid("drawn");
  REQUIRE(f.IsGrantedAtOnce("drawn"));
  f.cluster.Put(kPods, pod);
  f.RunFor(8s);
  CHECK(f.Used("q") == "pods=4");
}

// A replica that reads it holds it until the last request that was granted from it is stored.
TEST_CASE("burst: a long one is held for longer", "[controllers]") {
  SharedCrowd f;
  f.GrantSlowly();
  CHECK(f.List().find(R"("unassigned":2,"webhook":8)") != std::string::npos);
  f.controller->SetSlowestWebhook(27s);
  f.RunFor(3s);
  f.GrantSlowly();
  CHECK(f.List().find(R"("unassigned":2,"webhook":30)") != std::string::npos);
  // Longer than readers accept.
  f.controller->SetSlowestWebhook(28s);
  f.RunFor(3s);
  const std::size_t before = f.recorder.bursts;
  for (int i = 0; i < 6; ++i) {
    f.RunFor(490ms);
    f.Crowd(1);
  }
  CHECK(f.recorder.bursts == before);
}

}  // namespace burst_test
