// UsageDefinitions of kinds that Kubernetes' own names count: more names and scopes for pods.
#include <catch2/catch.hpp>
#include <thread>

#include "tests/e2e/harness/cluster_quotas.h"

namespace e2e::built_in_usage_test {
namespace {

using Catch::Matchers::Contains;

constexpr const char* kGpus = R"({
    "usage":[{"name":"acme.io/gpu-memory","path":".metadata.annotations['acme.io/gpu-memory']",
              "default":"0"}],
    "scopes":[{"name":"acme.io/gpu","path":".spec.nodeSelector['acme.io/gpu']"},
              {"name":"acme.io/tier","path":".metadata.labels['acme.io/tier']"}]})";

// A daemon that enforces ClusterQuotas, and a team with a namespace.
struct Pods {
  Admission a{{.server = Managed(), .more_flags = {"--enforce=cluster"}}};
  ClusterQuotas quotas{a.api()};
  UsageDefinitions definitions{a.api()};
  const std::string team = FreshName("team");
  TeamNamespace ns{a.api(), team};

  void Define() {
    definitions.Create("pods", kGpus);
    definitions.WaitCondition("pods", "Ready", "True");
  }
  static json::Value Definition() {
    json::Value definition = UsageDefinitions::Definition("pods", Json(kGpus));
    definition.Make({"spec", "resource"}) = json::Object{{"resource", "pods"}};
    return definition;
  }
  static json::Value Make(const std::string& name, const std::string& gpu,
                          const std::string& memory = "") {
    json::Value pod = Pod(name);
    if (!gpu.empty()) pod.Make({"spec", "nodeSelector", "acme.io/gpu"}) = gpu;
    if (!memory.empty()) pod.Make({"metadata", "annotations", "acme.io/gpu-memory"}) = memory;
    return pod;
  }
  Attempt Create(const std::string& name, const std::string& gpu, const std::string& memory = "") {
    return ToAttempt(a.api().Do(PostOf(ns.Pods(), Make(name, gpu, memory))));
  }
  Attempt Change(const std::string& name, const std::string& patch) {
    return ToAttempt(a.api().Do(PatchOf(PathOf("pods", ns.name(), name), patch)));
  }
};

TEST_CASE_METHOD(Pods, "built-in usage: GPUs by type, and their memory, are limited",
                 "[e2e][cluster][usage]") {
  Define();
  quotas.Create(team, SelectTeam(team, R"("hard":{"acme.io/gpu-memory":"100Gi","pods":"10"})"));
  const std::string typed = FreshName("a100");
  quotas.Create(typed, SelectTeam(team, R"("hard":{"pods":"2"},"scopeSelector":{"matchExpressions":[
      {"scopeName":"acme.io/gpu","operator":"In","values":["a100"]}]})"));
  quotas.WaitUsed(team, {{"acme.io/gpu-memory", "0"}, {"pods", "0"}});
  quotas.WaitUsed(typed, {{"pods", "0"}});

  CHECK(Create("p1", "a100", "40Gi").ok());
  CHECK(Create("p2", "t4", "40Gi").ok());
  quotas.WaitUsed(team, {{"acme.io/gpu-memory", "80Gi"}, {"pods", "2"}});
  quotas.WaitUsed(typed, {{"pods", "1"}});
  const Attempt large = Create("p3", "t4", "40Gi");
  CHECK(large.code == 403);
  CHECK_THAT(large.message, Contains("requested: acme.io/gpu-memory=40Gi"));
  const Attempt unread = Create("p3", "t4", "much");
  CHECK(unread.code == 403);
  CHECK_THAT(unread.message, Contains("metadata.annotations[acme.io/gpu-memory]"));
  CHECK(Create("p3", "a100").ok());
  const Attempt third = Create("p4", "a100");
  CHECK(third.code == 403);
  CHECK_THAT(third.message, Contains("exceeded cluster quota: " + typed));
  CHECK(Create("p4", "t4").ok());

  // An annotation changes at any time; what it raises is decided.
  CHECK(Change("p4", R"({"metadata":{"annotations":{"acme.io/gpu-memory":"30Gi"}}})").code == 403);
  CHECK(Change("p4", R"({"metadata":{"annotations":{"acme.io/gpu-memory":"20Gi"}}})").ok());
  CHECK(Change("p4", R"({"metadata":{"annotations":{"other":"30Gi"}}})").ok());
  quotas.WaitUsed(team, {{"acme.io/gpu-memory", "100Gi"}, {"pods", "4"}});
  ns.Delete("p1");
  quotas.WaitUsed(team, {{"acme.io/gpu-memory", "60Gi"}, {"pods", "3"}});
  quotas.WaitUsed(typed, {{"pods", "1"}});
}

TEST_CASE_METHOD(Pods, "built-in usage: a pod that changes its label enters another scope",
                 "[e2e][cluster][usage]") {
  Define();
  quotas.Create(team, SelectTeam(team, R"("hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[
      {"scopeName":"acme.io/tier","operator":"In","values":["gold"]}]})"));
  quotas.WaitUsed(team, {{"pods", "0"}});
  CHECK(Create("p1", "").ok());
  CHECK(Create("p2", "").ok());
  CHECK(Change("p1", R"({"metadata":{"labels":{"acme.io/tier":"gold"}}})").ok());
  quotas.WaitUsed(team, {{"pods", "1"}});
  CHECK(Change("p2", R"({"metadata":{"labels":{"acme.io/tier":"gold"}}})").code == 403);
  CHECK(Change("p1", R"({"metadata":{"labels":{"acme.io/tier":"silver"}}})").ok());
  quotas.WaitUsed(team, {{"pods", "0"}});
}

TEST_CASE_METHOD(Pods, "built-in usage: pods stay limited while their definition comes and goes",
                 "[e2e][cluster][usage]") {
  constexpr int kLimit = 260;
  quotas.Create(team, SelectTeam(team, R"("hard":{"pods":")" + std::to_string(kLimit) + R"("})"));
  quotas.WaitUsed(team, {{"pods", "0"}});
  int created = 0;
  for (int round = 0; round < 6; ++round) {
    std::vector<client::ApiRequest> requests;
    for (int i = 0; i < 64; ++i) {
      const std::string pod = "p" + std::to_string(round) + "-" + std::to_string(i);
      requests.push_back(PostOf(ns.Pods(), Make(pod, "a100", "1Gi")));
    }
    std::thread change([&, round] {
      Api admin(a.scenario().server().Kubeconfig());
      if (round % 2 == 0) {
        admin.Create(UsageDefinitions::Path(), Definition());
      } else {
        admin.Delete(UsageDefinitions::Path("pods"));
      }
    });
    for (const Attempt& attempt : a.DoAll(std::move(requests), 64)) {
      created += attempt.ok() ? 1 : 0;
      if (attempt.ok()) continue;
      CHECK_THAT(attempt.message, Contains("exceeded cluster quota"));
    }
    change.join();
  }
  CHECK(created == kLimit);
  quotas.WaitUsed(team, {{"pods", std::to_string(kLimit)}});
}

}  // namespace
}  // namespace e2e::built_in_usage_test
