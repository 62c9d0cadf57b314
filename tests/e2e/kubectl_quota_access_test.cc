// What kubectl quota says to users who may not read everything, and of wrong calls.
#include <catch2/catch.hpp>

#include <optional>

#include "tests/e2e/harness/counted_cluster.h"
#include "tests/e2e/harness/faults.h"

namespace e2e::kubectl_quota_access_test {

using Catch::Matchers::Contains;

// The sandbox knows one user, who may do everything.
TEST_CASE("kubectl quota names a missing right", "[e2e][kubectl-quota][real-only]") {
  CountedCluster cluster;
  const auto stranger = cluster.KubeconfigOfStranger();
  const auto all = AskPlugin(stranger, {"-A"});
  CHECK(all.exit_code == 2);
  CHECK_THAT(all.output,
             Contains("Error from server (Forbidden): resourcequotas is forbidden: User "
                      "\"stranger\" cannot list resource \"resourcequotas\" in API group \"\" at "
                      "the cluster scope"));
}

TEST_CASE("kubectl quota shows what the user may read, and says what is left out",
          "[e2e][kubectl-quota][controller-manager][real-only]") {
  CountedCluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("compute", {{"pods", "1"}}));
  cluster.WaitUsed("compute", {{"pods", "0"}});
  s.Create("deployments", DeploymentOf("web", 2, {{"cpu", "500m"}}));
  cluster.WaitUsed("compute", {{"pods", "1"}});
  cluster.AllowStranger(R"(["", "apps"])", R"(["resourcequotas", "deployments"])");
  const auto stranger = cluster.KubeconfigOfStranger();
  const auto ask = [&](std::vector<std::string> arguments) {
    arguments.push_back("--namespace=" + s.ns());
    return AskPlugin(stranger, arguments);
  };
  Eventually("the role is in effect", [&] { return ask({"top"}).exit_code == 0 ? "" : "no"; });

  const auto who = ask({"who", "compute"});
  CHECK(who.exit_code == 0);
  CHECK_THAT(who.output, Contains("Warning: shown without pods: Error from server (Forbidden): "
                                  "pods is forbidden: User \"stranger\" cannot list resource "
                                  "\"pods\""));
  CHECK_THAT(who.output, Contains("pods       <not listed>   1        100%    -\n"));
  Eventually("its own status has its pod", [&]() -> std::string {
    const auto why = ask({"why", "deploy/web"});
    const bool all =
        why.exit_code == 1 &&
        why.output.find("deployment.apps/web wants 2 pods and has 1") != std::string::npos &&
        why.output.find("shown without Events: ") != std::string::npos;
    return all ? "" : why.output;
  });
  const auto file =
      cluster.File("other.yaml", json::Write(DeploymentOf("other", 1, {{"cpu", "500m"}})));
  const auto check = ask({"check", "--dry-run=server", "-f", file});
  CHECK(check.exit_code == 1);
  CHECK_THAT(check.output, Contains("server: deployment.apps/other is not judged: "));
  CHECK_THAT(check.output, !Contains("PriorityClass"));  // nothing refers to one
  CHECK_THAT(ask({"report"}).output, Contains("<p>shown without pods: "));
}

// A tenant, as by the ClusterRole "edit", may list nothing that is cluster-scoped.
TEST_CASE("kubectl quota check needs DeviceClasses only for claims of devices",
          "[e2e][kubectl-quota][since-1.36]") {
  CountedCluster cluster;
  Scenario& s = cluster.scenario();
  const Quantities none{{"pods", "0"}, {"requests.nvidia.com/gpu", "0"}};
  s.Create("resourcequotas", Quota("q", {{"pods", "10"}, {"requests.nvidia.com/gpu", "4"}}));
  cluster.WaitUsed("q", none);
  std::optional<Stranger> stranger;
  std::string kubeconfig = s.server().Kubeconfig();
  if (CurrentTier() == Tier::kSandbox) {
    Inject(s, R"({"fault": "answer", "code": 403, "times": -1, "resource": "deviceclasses"})");
  } else {
    cluster.AllowStranger(R"(["", "autoscaling", "resource.k8s.io"])",
                          R"(["namespaces", "resourcequotas", "limitranges", "pods", "configmaps",
                              "horizontalpodautoscalers", "resourceclaims"])");
    stranger.emplace(s.server());
    stranger->Grant("cluster", R"([{"apiGroups": ["quota-controller-manager.io"], "resources":
        ["*"], "verbs": ["list"]}])");
    kubeconfig = stranger->kubeconfig();
  }
  const auto check = [&](const json::Value& object) {
    return AskPlugin(kubeconfig, {"check", "--namespace=" + s.ns(), "-f",
                                  cluster.File("file.json", json::Write(object))});
  };
  const auto map = Json(R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}})");
  Eventually("the roles are in effect", [&] {
    const auto told = check(map);
    return told.exit_code == 0 ? "" : told.output;
  });
  CHECK(check(map).output == "Yes: no quota limits any of it.\n");
  json::Value pod = Pod("p");
  pod.Make({"apiVersion"}) = "v1";
  pod.Make({"kind"}) = "Pod";
  const auto of_pod = check(pod);
  INFO(of_pod.output);
  CHECK(of_pod.exit_code == 0);
  const auto claim = Json(R"({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
      "metadata": {"name": "two"}, "spec": {"devices": {"requests": [{"name": "r", "exactly":
      {"deviceClassName": "big", "count": 2}}]}}})");
  const auto unknown = check(claim);
  CHECK(unknown.exit_code == 3);
  CHECK_THAT(
      unknown.output,
      Contains("Cannot tell: all that is known fits, but: "
               "resourceclaim.resource.k8s.io/two: usage that depends on "
               "deviceclasses.resource.k8s.io is left out: Error from server (Forbidden): "));
  const std::vector<std::string> who{"who", "q", "--namespace=" + s.ns()};
  CHECK_THAT(AskPlugin(kubeconfig, who).output, !Contains("Warning"));
  s.Create("resourceclaims", claim);
  CHECK_THAT(AskPlugin(kubeconfig, who).output,
             Contains("Warning: usage that depends on deviceclasses.resource.k8s.io is left out"));
}

TEST_CASE("kubectl quota refuses a wrong call with one line and 2", "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  const std::vector<std::pair<std::vector<std::string>, std::string>> calls{
      {{"--frobnicate"}, "--frobnicate"},
      {{"top", "-o", "xml"}, "-o xml is unknown to top"},
      {{"who"}, "QUOTA is required"},
      {{"who", "q", "-A"}, "who looks into one namespace"},
      {{"-A", "-n", "x"}, "-n and -A cannot be used together"},
      {{"top", "-w", "-o", "json"}, "-w goes with tables and csv only"},
      {{"who", "q", "--by", "moon"}, "--by moon is not one of"},
      {{"--context", "nowhere"}, "nowhere"},
  };
  for (const auto& [call, words] : calls) {
    const auto refused = cluster.Ask(call);
    INFO(refused.output);
    CHECK(refused.exit_code == 2);
    CHECK_THAT(refused.output, Contains(words));
  }
  const auto help = cluster.Ask({"--help"});
  CHECK(help.exit_code == 0);
  CHECK_THAT(help.output, Contains("kubectl quota who compute --name requests.cpu"));
}

}  // namespace e2e::kubectl_quota_access_test
