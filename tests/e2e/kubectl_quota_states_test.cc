// What kubectl quota says in states that users meet by chance: a wrong namespace, limits that are
// exceeded or not in force yet, and pods that the server refuses whatever is free.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/counted_cluster.h"

namespace e2e::kubectl_quota_states_test {
namespace {

using Catch::Matchers::Contains;

constexpr const char* kUndefined =
    "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";

json::Value PodWith(const std::string& spec) {
  return Json(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": )" + spec +
              "}");
}

json::Value PodThatRequests(const std::string& resources) {
  return PodWith(R"({"containers": [{"name": "c", "image": "i", "resources": )" + resources +
                 "}]}");
}

// A real server judges the same in a dry run; the sandbox has no plugins and validates little.
void MustBeRefused(CountedCluster& cluster, const json::Value& pod, const std::string& words) {
  const auto file = cluster.File("pod.json", json::Write(pod));
  const auto told = cluster.AskHere({"check", "-f", file});
  INFO(told.output);
  CHECK(told.exit_code == 1);
  CHECK_THAT(told.output, Contains("pod/p: " + words));
  if (!cluster.has_controllers()) return;
  const auto asked = cluster.AskHere({"check", "-f", file, "--dry-run=server"});
  INFO(asked.output);
  CHECK_THAT(asked.output, Contains("server: pod/p is refused: ") && Contains(words) &&
                               !Contains("(check foresees "));
}

}  // namespace

TEST_CASE("kubectl quota check refuses an overhead that no RuntimeClass defines",
          "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  const json::Value pod = PodWith(R"({"overhead": {"cpu": "250m"}, "containers": [{"name": "c",
      "image": "i"}]})");
  MustBeRefused(cluster, pod, kUndefined);
  // The server takes a workload with such pods, which its controller then cannot create.
  json::Value web = DeploymentOf("web", 1);
  web.Make({"spec", "template", "spec", "overhead", "cpu"}) = "250m";
  const auto told = cluster.AskHere({"check", "-f", cluster.File("web.json", json::Write(web))});
  CHECK(told.exit_code == 1);
  CHECK_THAT(told.output, Contains("deployment.apps/web: " + std::string(kUndefined)));
}

TEST_CASE("kubectl quota check refuses hugepages and GPUs without limits", "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  const std::string resource = GENERATE("hugepages-2Mi", "nvidia.com/gpu");
  MustBeRefused(cluster,
                PodThatRequests(R"({"requests": {"cpu": "1", ")" + resource + R"(": "2Mi"}})"),
                "spec.containers[0].resources.limits: Required value: Limit must be set for non "
                "overcommitable resources");
  MustBeRefused(cluster,
                PodThatRequests(R"({"requests": {"cpu": "1", ")" + resource +
                                R"(": "2Mi"}, "limits": {")" + resource + R"(": "4Mi"}})"),
                "spec.containers[0].resources.requests: Invalid value: \"2Mi\": must be equal to " +
                    resource + " limit of 4Mi");
}

TEST_CASE("kubectl quota says that a namespace does not exist", "[e2e][kubectl-quota]") {
  PluginScenario plugin;
  const std::string ns = FreshName("e2e-absent");
  const std::vector<std::string> command =
      GENERATE(std::vector<std::string>{"top"}, std::vector<std::string>{"who", "q"},
               std::vector<std::string>{"why", "deploy/web"}, std::vector<std::string>{"suggest"},
               std::vector<std::string>{"report", "-o", "html"});
  std::vector<std::string> call = command;
  call.insert(call.end(), {"-n", ns});
  const auto told = plugin.Ask(call);
  INFO(command.front());
  CHECK(told.exit_code == 2);
  CHECK_THAT(told.output,
             Contains("Error from server (NotFound): namespaces \"" + ns + "\" not found"));
}

TEST_CASE("kubectl quota suggest says that nothing is used", "[e2e][kubectl-quota]") {
  PluginScenario plugin;
  Scenario& s = plugin.scenario();
  Eventually("it is told", [&]() -> std::string {
    // A real server may have the ConfigMap that controllers make.
    if (s.api().Exists(s.Path("configmaps", "kube-root-ca.crt"))) return "";
    const auto told = plugin.AskHere({"suggest"});
    const bool said =
        told.exit_code == 2 && told.output == "error: nothing is used in namespace " + s.ns() +
                                                  ", so there is no quota to suggest\n";
    return said ? "" : told.output;
  });
}

TEST_CASE("kubectl quota why says what another pod of a healthy workload would meet",
          "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("q", {{"requests.cpu", "500m"}}));
  cluster.WaitUsed("q", {{"requests.cpu", "0"}});
  cluster.MakeDeploymentWithPod("web", "500m");
  cluster.WaitUsed("q", {{"requests.cpu", "500m"}});
  const std::string words =
      "  quota q   requests.cpu 500m/500m, 0 free, lacks 500m   ← would refuse another\n"
      "it has what it wants, so nothing is refused now; another pod would be refused\n";
  Eventually("it is told", [&]() -> std::string {
    const auto told = cluster.AskHere({"why", "deploy/web"});
    const bool said = told.exit_code == 0 && told.output.find(words) != std::string::npos;
    return said ? "" : told.output;
  });
}

TEST_CASE("kubectl quota check refuses a rollout while usage is above the limit",
          "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("q", {{"pods", "1"}}));
  cluster.WaitUsed("q", {{"pods", "0"}});
  cluster.MakeDeploymentWithPod("web", "500m");
  cluster.WaitUsed("q", {{"pods", "1"}});
  if (!cluster.has_controllers()) {
    s.api().MergePatch(s.Path("deployments", "web") + "/status",
                       Json(R"({"status": {"replicas": 1, "updatedReplicas": 1}})"));
    s.api().MergePatch(s.Path("replicasets", "web-1"),
                       Json(R"({"metadata": {"labels": {"app": "web"}}})"));
  }
  // Each old pod goes before its new one, so the usage does not rise.
  s.api().MergePatch(
      s.Path("deployments", "web"),
      Json(R"({"spec": {"strategy": {"type": "Recreate", "rollingUpdate": null}}})"));
  json::Value web = DeploymentOf("web", 1, {{"cpu", "400m"}});
  web.Make({"spec", "strategy", "type"}) = "Recreate";
  const auto file = cluster.File("web.json", json::Write(web));
  const auto ends_with = [&](const std::string& row) {
    Eventually("check tells it", [&]() -> std::string {
      const auto told = cluster.AskHere({"check", "-f", file});
      return told.output.find(row) != std::string::npos ? "" : told.output;
    });
  };
  ends_with("Yes: no quota limits any of it.\n");
  s.api().MergePatch(s.Path("resourcequotas", "q"), HardPatch({{"pods", "0"}}));
  ends_with("q       pods       1        0       1       0       no, lacks 1\n");
}

TEST_CASE("kubectl quota check counts with the smaller limit while one is not in force yet",
          "[e2e][kubectl-quota]") {
  // Nothing counts here, so the status stays as it is.
  PluginScenario plugin;
  Scenario& s = plugin.scenario();
  const auto [wanted, enforced] = GENERATE(std::pair("5", "2"), std::pair("2", "5"));
  s.Create("resourcequotas", Quota("q", {{"pods", wanted}}));
  s.api().MergePatch(s.Path("resourcequotas", "q") + "/status",
                     Json(R"({"status": {"hard": {"pods": ")" + std::string(enforced) +
                          R"("}, "used": {"pods": "1"}}})"));
  const auto file = plugin.File("web.json", json::Write(DeploymentOf("web", 2)));
  const auto told = plugin.AskHere({"check", "-f", file});
  INFO(told.output);
  CHECK(told.exit_code == 1);
  CHECK_THAT(told.output,
             Contains("q       pods       1        2       3       2       no, lacks 1\n"));
  CHECK_THAT(plugin.AskHere({"top", "-o", "wide"}).output, Contains("limit not in force yet"));
}

}  // namespace e2e::kubectl_quota_states_test
