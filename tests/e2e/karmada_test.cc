// KarmadaQuota on a control plane: bindings of every writer are counted and decided.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/denial.h"
#include "tests/e2e/harness/federation.h"
#include "tests/pkg/quota/karmada/sample_bindings.h"

namespace e2e::karmada_test {
namespace {

// Accepts the name of each of our webhooks.
bool Says(const Attempt& attempt, const std::string& words) {
  return attempt.message.find(" is forbidden: " + words) != std::string::npos;
}

}  // namespace

TEST_CASE("karmada: limits and usage are shown, and what exceeds a limit is refused",
          "[e2e][karmada][server]") {
  Federation f;
  f.Limit("q",
          {{"cpu", "10"}, {"memory", "20Gi"}, {"pods", "8"}, {"services", "1"}, {"secrets", "1"}});
  REQUIRE(f.Post(Json(sample::kDeployment)).ok());
  f.WaitUsed(
      "q",
      {{"cpu", "1500m"}, {"memory", "3Gi"}, {"pods", "3"}, {"services", "0"}, {"secrets", "0"}});

  const Attempt flink = f.Post(Json(sample::kFlink));
  INFO(flink.Text());
  CHECK(flink.code == 403);
  CHECK(flink.reason == "QuotaExceeded");
  CHECK(flink.message ==
        DeniedByKarmada("resourcebindings.work.karmada.io \"clicks-flinkdeployment\" is forbidden: "
                        "exceeded quota: q, requested: cpu=9,memory=18Gi, used: "
                        "cpu=1500m,memory=3Gi, limited: cpu=10,memory=20Gi"));
  f.api().MergePatch(f.Path("karmadaquotas", "q"),
                     Json(R"({"spec":{"hard":{"cpu":"12","memory":"24Gi"}}})"));
  Eventually("the raised limit is enforced", [&]() -> std::string {
    const Attempt attempt = f.Post(Json(sample::kFlink));
    return attempt.ok() ? "" : attempt.Text();
  });
  REQUIRE(f.Post(Json(sample::kService)).ok());
  json::Value second = Json(sample::kService);
  second.Make({"metadata", "name"}) = "other-service";
  CHECK(Says(f.Post(second),
             "exceeded quota: q, requested: services=1, used: services=1, "
             "limited: services=1"));
  REQUIRE(f.Post(Json(sample::kSecret)).ok());
  const Quantities full = {
      {"cpu", "10500m"}, {"memory", "21Gi"}, {"pods", "8"}, {"services", "1"}, {"secrets", "1"}};
  f.WaitUsed("q", full);
  const Attempt scaled = f.Patch("web-deployment", R"({"spec":{"replicas":4}})");
  INFO(scaled.Text());
  CHECK(Says(scaled, "exceeded quota: q, requested: pods=1, used: pods=8, limited: pods=8"));

  // A limit below usage: nothing is evicted, and scaling down is always allowed.
  f.api().MergePatch(f.Path("karmadaquotas", "q"), Json(R"({"spec":{"hard":{"cpu":"5"}}})"));
  CHECK(f.Patch("web-deployment", R"({"spec":{"replicas":2}})").ok());
  CHECK(f.Patch("web-deployment", Placed({{"member1", 1}, {"member2", 1}})).ok());
  f.WaitUsed(
      "q", {{"cpu", "10"}, {"memory", "20Gi"}, {"pods", "7"}, {"services", "1"}, {"secrets", "1"}});
  f.Delete("clicks-flinkdeployment");
  f.WaitUsed("q",
             {{"cpu", "1"}, {"memory", "2Gi"}, {"pods", "2"}, {"services", "1"}, {"secrets", "1"}});
}

TEST_CASE("karmada: rescheduling is charged the difference, and a failover nothing",
          "[e2e][karmada]") {
  Federation f;
  f.Limit("q", {{"cpu", "6"}, {"pods", "6"}});
  REQUIRE(f.Post(Binding("web", 3, {{"cpu", "1"}})).ok());
  f.WaitUsed("q", {{"cpu", "3"}, {"pods", "3"}});
  const double writes = f.daemon().Metric("quota_admission_status_writes_total").value_or(0);
  CHECK(f.Patch("web", Placed({{"member1", 2}, {"member2", 1}})).ok());
  CHECK(f.Patch("web", Placed({{"member3", 3}})).ok());
  CHECK(f.Patch("web", R"({"spec":{"gracefulEvictionTasks":[
            {"fromCluster":"member1","reason":"x","producer":"y","replicas":2}]}})")
            .ok());
  CHECK(f.daemon().Metric("quota_admission_status_writes_total").value_or(0) == writes);
  // A copy in each cluster uses more.
  CHECK(f.Patch("web", Placed({{"member1", 3}, {"member2", 3}})).ok());
  f.WaitUsed("q", {{"cpu", "6"}, {"pods", "6"}});
  CHECK(Says(f.Patch("web", Placed({{"member1", 3}, {"member2", 3}, {"member3", 3}})),
             "exceeded quota: q, requested: cpu=3,pods=3, used: cpu=6,pods=6, "
             "limited: cpu=6,pods=6"));
  CHECK(f.Patch("web", Placed({})).ok());
  f.WaitUsed("q", {{"cpu", "3"}, {"pods", "3"}});
}

TEST_CASE("karmada: a suspended binding waits for quota without using any", "[e2e][karmada]") {
  Federation f;
  f.Limit("q", {{"cpu", "400m"}, {"count/jobs.batch", "1"}});
  REQUIRE(f.Post(Json(sample::kJob)).ok());
  f.WaitUsed("q", {{"cpu", "0"}, {"count/jobs.batch", "1"}});
  const std::string resume = R"({"spec":{"suspension":{"scheduling":false}}})";
  CHECK(Says(f.Patch("batch-job", resume),
             "exceeded quota: q, requested: cpu=500m, used: cpu=0, "
             "limited: cpu=400m"));
  f.api().MergePatch(f.Path("karmadaquotas", "q"), Json(R"({"spec":{"hard":{"cpu":"1"}}})"));
  Eventually("the binding is admitted", [&]() -> std::string {
    const Attempt attempt = f.Patch("batch-job", resume);
    return attempt.ok() ? "" : attempt.Text();
  });
  f.WaitUsed("q", {{"cpu", "500m"}, {"count/jobs.batch", "1"}});
}

TEST_CASE("karmada: quotas with a priority class count the matching components", "[e2e][karmada]") {
  Federation f;
  const auto selector = [](const std::string& op, const std::string& values) {
    return R"({"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":")" +
           op + R"(")" + values + "}]}}";
  };
  const Quantities hard = {{"cpu", "10"}, {"pods", "10"}};
  f.Limit("in", hard, selector("In", R"(,"values":["middle"])"));
  f.Limit("not-in", hard, selector("NotIn", R"(,"values":["middle"])"));
  f.Limit("some", hard, selector("Exists", ""));
  f.Limit("none", hard, selector("DoesNotExist", ""));
  f.Limit("named", hard, R"({"scopes":["PriorityClass"]})");
  REQUIRE(f.Post(Json(sample::kFlink)).ok());
  REQUIRE(f.Post(Binding("plain", 2, {{"cpu", "1"}})).ok());
  REQUIRE(f.Post(Json(sample::kService)).ok());
  f.WaitUsed("in", {{"cpu", "1"}, {"pods", "1"}});
  f.WaitUsed("not-in", {{"cpu", "10"}, {"pods", "6"}});
  f.WaitUsed("some", {{"cpu", "9"}, {"pods", "5"}});
  f.WaitUsed("none", {{"cpu", "2"}, {"pods", "2"}});
  f.WaitUsed("named", {{"cpu", "9"}, {"pods", "5"}});
  // With another priority class the binding belongs to another quota, in which it does not fit.
  const std::string without = R"({"spec":{"replicaRequirements":{"priorityClassName":"high"}}})";
  CHECK(Says(f.Patch("plain", without),
             "exceeded quota: named, requested: cpu=2, used: cpu=9, limited: cpu=10"));
  const std::string middle = R"({"spec":{"replicas":1,
      "replicaRequirements":{"priorityClassName":"middle"}}})";
  CHECK(f.Patch("plain", middle).ok());
  f.WaitUsed("in", {{"cpu", "2"}, {"pods", "2"}});
  f.WaitUsed("none", {{"cpu", "0"}, {"pods", "0"}});
}

TEST_CASE("karmada: propagated objects are counted by the resource of their kind",
          "[e2e][karmada]") {
  Federation f;
  f.Limit("q", {{"count/deployments.apps", "2"}, {"count/configmaps", "5"}});
  REQUIRE(f.Post(Binding("a", 1, {})).ok());
  REQUIRE(f.Post(BindingOf("b", "apps/v1", "Deployment")).ok());
  REQUIRE(f.Post(BindingOf("c", "v1", "ConfigMap")).ok());
  REQUIRE(f.Post(BindingOf("d", "nowhere.example.com/v1", "Deployment")).ok());
  f.WaitUsed("q", {{"count/deployments.apps", "2"}, {"count/configmaps", "1"}});
  CHECK(Says(f.Post(BindingOf("e", "apps/v1", "Deployment")),
             "exceeded quota: q, requested: count/deployments.apps=1, used: "
             "count/deployments.apps=2, limited: count/deployments.apps=2"));
  f.Delete("b");
  f.WaitUsed("q", {{"count/deployments.apps", "1"}, {"count/configmaps", "1"}});
}

TEST_CASE(
    "karmada: a kind that is not served affects no other name, and is counted once it is served",
    "[e2e][karmada]") {
  Federation f;
  f.Limit("first", {{"pods", "9"}});
  const std::string name = "count/federatedresourcequotas.policy.karmada.io";
  f.api().Create(f.Path("karmadaquotas"),
                 Json(R"({"apiVersion":"policy.karmada.io/v1alpha1","kind":"KarmadaQuota",
                      "metadata":{"name":"q"},"spec":{"hard":{"pods":"9",")" +
                      name + R"(":"1"}}})"));
  REQUIRE(f.Post(BindingOf("frq", "policy.karmada.io/v1alpha1", "FederatedResourceQuota")).ok());
  REQUIRE(f.Post(Binding("web", 2, {})).ok());
  f.WaitUsed("q", {{"pods", "2"}});
  f.Serve("federatedresourcequotas");
  f.WaitUsed("q", {{"pods", "2"}, {name, "1"}}, Stretched(10s));
  CHECK(Says(f.Post(BindingOf("more", "policy.karmada.io/v1", "FederatedResourceQuota")),
             "exceeded quota: q, requested: " + name + "=1, used: " + name +
                 "=1, limited: " + name + "=1"));
}

TEST_CASE("karmada: a scheduler that retries for ever causes no writes", "[e2e][karmada]") {
  Federation f;
  f.Limit("q", {{"pods", "3"}});
  REQUIRE(f.Post(Binding("web", 3, {{"cpu", "1"}})).ok());
  f.WaitUsed("q", {{"pods", "3"}});
  const std::string before(f.GetQuota("q").StringAt({"metadata", "resourceVersion"}));
  for (int i = 0; i < 30; ++i) {
    CHECK(f.Patch("web", Placed({{"member1", 3}, {"member2", 3}})).reason == "QuotaExceeded");
  }
  CHECK(f.GetQuota("q").StringAt({"metadata", "resourceVersion"}) == before);
}

TEST_CASE("karmada: 64 racing writers end exactly at the limit", "[e2e][karmada]") {
  Federation f;
  f.Limit("q", {{"cpu", "20"}});
  std::vector<client::ApiRequest> requests;
  requests.reserve(64);
  for (int i = 0; i < 64; ++i) {
    requests.push_back(
        PostOf(f.Path("resourcebindings"), Binding("w" + std::to_string(i), 2, {{"cpu", "500m"}})));
  }
  int stored = 0;
  for (const auto& answer : f.api().DoAll(std::move(requests), 64)) {
    const Attempt attempt = ToAttempt(answer);
    INFO(attempt.Text());
    CHECK((attempt.ok() || attempt.reason == "QuotaExceeded"));
    stored += attempt.ok() ? 1 : 0;
  }
  CHECK(stored == 20);
  f.WaitUsed("q", {{"cpu", "20"}});
  // Many concurrent updates of one object: each stored update is charged once.
  f.api().MergePatch(f.Path("karmadaquotas", "q"), Json(R"({"spec":{"hard":{"cpu":"30"}}})"));
  const json::Value* items = nullptr;
  const json::Value list = f.api().Get(f.Path("resourcebindings"));
  items = list.At({"items"});
  const std::string one(items->AsArray()->front().StringAt({"metadata", "name"}));
  Eventually("the raised limit is enforced", [&]() -> std::string {
    const Attempt attempt = f.Patch(one, R"({"spec":{"replicas":3}})");
    return attempt.ok() ? "" : attempt.Text();
  });
  std::vector<client::ApiRequest> updates;
  updates.reserve(32);
  for (int i = 0; i < 32; ++i) {
    updates.push_back(PatchOf(
        f.Path("resourcebindings", one),
        R"({"metadata":{"labels":{"l)" + std::to_string(i) + R"(":"x"}},"spec":{"replicas":10}})"));
  }
  for (const auto& answer : f.api().DoAll(std::move(updates), 16)) {
    const Attempt attempt = ToAttempt(answer);
    INFO(attempt.Text());
    CHECK((attempt.ok() || attempt.code == 409));
  }
  f.WaitUsed("q", {{"cpu", "24"}});
  Always(
      "used stays what it is",
      [&]() -> std::string {
        const auto used = ToQuantities(f.GetQuota("q").At({"status", "used"}));
        return used == Quantities{{"cpu", "24"}} ? "" : ToText(used);
      },
      500ms);
}

TEST_CASE("karmada: an invalid amount is refused, and a stored one counts as documented",
          "[e2e][karmada]") {
  Federation f;
  REQUIRE(f.Post(Binding("old", 2, {{"cpu", "-1"}, {"memory", "1Gi"}})).ok());  // no quota yet
  REQUIRE(f.Post(BindingOf("bare", "apps/v1", "Deployment")).ok());
  f.Limit("q", {{"cpu", "10"}, {"memory", "10Gi"}, {"pods", "10"}});
  f.WaitUsed("q", {{"cpu", "0"}, {"memory", "2Gi"}, {"pods", "2"}});
  const Attempt negative = f.Post(Binding("new", 1, {{"cpu", "-1"}}));
  INFO(negative.Text());
  CHECK(negative.code == 403);
  CHECK(Says(negative,
             "it cannot be counted: spec.replicaRequirements.resourceRequest[cpu]: must "
             "not be negative"));
  CHECK(f.Post(Binding("less", -3, {{"cpu", "1"}})).ok());  // counts as none
  CHECK(f.Patch("old", R"({"spec":{"replicas":3}})").ok());
  f.WaitUsed("q", {{"cpu", "0"}, {"memory", "3Gi"}, {"pods", "3"}});
  // An object that is being deleted is limited as before, and its finalizers can always be removed.
  CHECK(f.Patch("old", R"({"metadata":{"finalizers":["e2e.test/held"]}})").ok());
  f.api().Delete(f.Path("resourcebindings", "old"));
  const Attempt grown = f.Patch("old", R"({"spec":{"replicas":300}})");
  INFO(grown.Text());
  CHECK(grown.exceeded());
  CHECK(f.Patch("old", R"({"metadata":{"finalizers":null}})").ok());
  f.WaitUsed("q", {{"cpu", "0"}, {"memory", "0"}, {"pods", "0"}});
}

TEST_CASE("karmada: KarmadaQuota and FederatedResourceQuota do not write each other's objects",
          "[e2e][karmada]") {
  Federation f;
  f.Serve("federatedresourcequotas");
  const std::string frq = f.Path("federatedresourcequotas", "q");
  f.api().Create(f.Path("federatedresourcequotas"),
                 Json(R"({"apiVersion":"policy.karmada.io/v1alpha1",
                      "kind":"FederatedResourceQuota","metadata":{"name":"q"},
                      "spec":{"overall":{"cpu":"1"}}})"));
  f.api().MergePatch(f.Path("federatedresourcequotas", "q", "status"),
                     Json(R"({"status":{"overall":{"cpu":"1"},"overallUsed":{"cpu":"0"}}})"));
  const std::string before(f.api().Get(frq).StringAt({"metadata", "resourceVersion"}));
  f.Limit("q", {{"cpu", "4"}});
  REQUIRE(f.Post(Binding("web", 3, {{"cpu", "1"}})).ok());
  f.WaitUsed("q", {{"cpu", "3"}});
  CHECK(f.api().Get(frq).StringAt({"metadata", "resourceVersion"}) == before);
}

TEST_CASE("karmada: the quota API may appear, disappear and come back", "[e2e][karmada]") {
  Federation f({.serve = false});
  CHECK(f.daemon().Probe("/readyz") == 200);
  const std::string absent = "does not serve this quota API, waiting for it quota_api=karmada";
  f.daemon().WaitForLog(absent);
  f.Serve("resourcebindings");
  f.Serve("karmadaquotas");
  REQUIRE(f.Post(Binding("web", 2, {{"cpu", "1"}})).ok());
  f.api().Create(f.Path("karmadaquotas"),
                 Json(R"({"apiVersion":"policy.karmada.io/v1alpha1","kind":"KarmadaQuota",
                      "metadata":{"name":"q"},"spec":{"hard":{"pods":"3"}}})"));
  f.WaitUsed("q", {{"pods", "2"}}, Stretched(8s));
  Eventually("it is enforced", [&]() -> std::string {
    const Attempt attempt = f.Post(Binding("more", 2, {}));
    if (attempt.ok()) f.Delete("more");
    return attempt.reason == "QuotaExceeded" ? "" : attempt.Text();
  });
  f.StopServing("karmadaquotas");
  const auto times_said = [&] {
    const std::string log = f.daemon().Log();
    std::size_t times = 0;
    for (auto at = log.find(absent); at != std::string::npos; at = log.find(absent, at + 1)) {
      ++times;
    }
    return times;
  };
  Eventually(
      "the engine has stopped",
      [&]() -> std::string { return times_said() == 2 ? "" : f.daemon().Log(); }, Stretched(15s));
  CHECK(f.daemon().Probe("/readyz") == 200);
  CHECK(f.Post(Binding("free", 9, {})).ok());
  f.Serve("karmadaquotas");
  f.Limit("again", {{"pods", "20"}});
  f.WaitUsed("again", {{"pods", "11"}});
  CHECK(f.daemon().Running());
}

TEST_CASE("karmada: without an address for admission quotas are only counted, and the log says so",
          "[e2e][karmada]") {
  Federation f({.reachable = false});
  f.Limit("q", {{"pods", "1"}});
  CHECK(f.Post(Binding("web", 5, {})).ok());
  f.WaitUsed("q", {{"pods", "5"}});
  f.daemon().WaitForLog("quotas are counted but not enforced: set --admission-service");
}

TEST_CASE("karmada: the shipped rights are enough", "[e2e][karmada][real-only]") {
  Federation f(
      {.more_flags = {"--quota-apis=karmada", "--leader-elect=true"}, .shipped_rights = true});
  f.daemon().WaitForLog("became leader");
  f.Limit("q", {{"pods", "3"}, {"count/deployments.apps", "9"}});
  REQUIRE(f.Post(Binding("web", 3, {})).ok());
  f.WaitUsed("q", {{"pods", "3"}, {"count/deployments.apps", "1"}});
  CHECK(f.Patch("web", R"({"spec":{"replicas":4}})").reason == "QuotaExceeded");
  f.api().MergePatch(f.Path("karmadaquotas", "q"), Json(R"({"spec":{"hard":{"pods":"1"}}})"));
  Eventually("an event says that the limit is exceeded", [&]() -> std::string {
    const auto events = json::Write(f.api().Get(f.scenario().Path("events")));
    return events.find("QuotaExceeded") != std::string::npos ? "" : events;
  });
  CHECK(f.daemon().Probe("/readyz") == 200);
  CHECK(f.daemon().Log().find("forbidden: User") == std::string::npos);
}

}  // namespace e2e::karmada_test
