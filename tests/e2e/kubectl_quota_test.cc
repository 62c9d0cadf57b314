// Compares the plugin's output with the server: the sandbox with the daemon, or the real
// kube-apiserver with its own quota plugin and kube-controller-manager.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/counted_cluster.h"
#include "tests/e2e/harness/federation.h"

namespace e2e::kubectl_quota_test {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("kubectl quota top shows each quota and name, the fullest first",
          "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("compute", {{"pods", "4"}, {"requests.cpu", "1"}}));
  cluster.WaitUsed("compute", {{"pods", "0"}, {"requests.cpu", "0"}});
  s.Create("pods", Pod("a", {{"cpu", "900m"}}));
  cluster.WaitUsed("compute", {{"pods", "1"}, {"requests.cpu", "900m"}});

  const auto table = cluster.AskHere({});
  CHECK(table.exit_code == 0);
  CHECK(table.output ==
        "QUOTA     RESOURCE       USED/HARD   USED%   FREE   FULL\n"
        "compute   requests.cpu   900m/1      90%     100m   #########.\n"
        "compute   pods           1/4         25%     3      ##........\n");
  CHECK(cluster.AskHere({"top", "--no-headers", "-o", "csv"}).output ==
        s.ns() + ",compute,requests.cpu,0.9,1,0.1,0.9000\r\n" + s.ns() +
            ",compute,pods,1,4,3,0.2500\r\n");
  CHECK_THAT(cluster.AskHere({"-o", "json"}).output, Contains("\"ratio\": 0.9000"));
  CHECK_THAT(cluster.AskHere({"-o", "yaml"}).output, Contains("  used: 900m\n"));
  CHECK_THAT(cluster.Ask({"-A"}).output, Contains(s.ns()));
  CHECK_THAT(cluster.AskHere({"-l", "app=other"}).output,
             Contains("No resources found in " + s.ns() + " namespace."));
}

TEST_CASE("kubectl quota top -w prints what changes", "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("compute", {{"pods", "4"}, {"secrets", "5"}}));
  cluster.WaitUsed("compute", {{"pods", "0"}, {"secrets", "0"}});
  TempDir dir;
  const std::string log = dir.path() + "/watch";
  Process watch({.argv = {BuiltProgram("kubectl-quota"), "-w", "-n", s.ns(), "--no-headers",
                          "--kubeconfig=" + s.server().Kubeconfig()},
                 .env = {{"LC_ALL", "C"}},
                 .log_path = log});
  const auto shows = [&](const std::string& text) {
    return [&log, text]() -> std::string {
      const std::string output = ReadFile(log);
      return output.find(text) != std::string::npos ? "" : output;
    };
  };
  Eventually("the output shows the current usage", shows("compute   secrets   0/5"));
  s.Create("pods", Pod("a"));
  Eventually("the output shows the change", shows("compute   pods      1/4"));
  CHECK(ReadFile(log).find("secrets") == ReadFile(log).rfind("secrets"));
}

TEST_CASE("kubectl quota who follows owners to the topmost one", "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("compute", {{"requests.cpu", "4"}, {"pods", "9"}}));
  cluster.WaitUsed("compute", {{"requests.cpu", "0"}, {"pods", "0"}});
  cluster.MakeDeploymentWithPod("made", "1500m");
  s.Create("pods", Pod("alone", {{"cpu", "500m"}}));
  cluster.WaitUsed("compute", {{"requests.cpu", "2"}, {"pods", "2"}});

  const auto by_owner = cluster.AskHere({"who", "compute", "--name", "requests.cpu"});
  CHECK(by_owner.exit_code == 0);
  CHECK(by_owner.output ==
        "RESOURCE       HOLDER                 AMOUNT   SHARE   OBJECTS\n"
        "requests.cpu   deployment.apps/made   1500m    75%     1\n"
        "requests.cpu   pod/alone              500m     25%     1\n");
  CHECK(cluster.AskHere({"who", "compute", "--name=pods", "--by=label=app"}).output ==
        "RESOURCE   HOLDER   AMOUNT   SHARE   OBJECTS\n"
        "pods       <none>   1        50%     1\n"
        "pods       made     1        50%     1\n");
  CHECK_THAT(cluster.AskHere({"who", "compute", "--by", "object", "-o", "json"}).output,
             Contains("\"holder\": \"pod/alone\""));

  const auto missing = cluster.AskHere({"who", "nothing"});
  CHECK(missing.exit_code == 2);
  CHECK_THAT(missing.output, Contains("Error from server (NotFound)"));
  CHECK_THAT(missing.output, Contains("there are: compute"));
  const auto unlimited = cluster.AskHere({"who", "compute", "--name", "secrets"});
  CHECK(unlimited.exit_code == 2);
  CHECK_THAT(unlimited.output, Contains("quota compute does not limit secrets, but"));
}

TEST_CASE("kubectl quota who --unused shows claims that no pod uses", "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("storage", {{"requests.storage", "20Gi"}, {"pods", "9"}}));
  for (const std::string name : {"told", "busy", "left", "done"}) {
    s.Create("persistentvolumeclaims", Claim(name, "2Gi"));
  }
  s.api().MergePatch(s.Path("persistentvolumeclaims", "told", "status"),
                     Json(R"({"status": {"conditions": [{"type": "Unused", "status": "True",
          "reason": "NoPodsUsingPVC", "lastTransitionTime": "2024-01-02T03:04:05Z"}]}})"));
  for (const std::string name : {"busy", "done"}) {
    json::Value pod = Pod(name);
    pod.Make({"spec", "volumes"}) =
        Json(R"([{"name": "v", "persistentVolumeClaim": {"claimName": ")" + name + R"("}}])");
    s.Create("pods", pod);
  }
  s.api().MergePatch(s.Path("pods", "done", "status"),
                     Json(R"({"status": {"phase": "Succeeded"}})"));
  cluster.WaitUsed("storage", {{"requests.storage", "8Gi"}, {"pods", "1"}});

  CHECK(cluster.AskHere({"who", "storage", "--unused", "-o", "csv"}).output ==
        "resource,holder,amount,share,objects,unused\r\n"
        "requests.storage,persistentvolumeclaim/done,2Gi,25%,1,<unknown>\r\n"
        "requests.storage,persistentvolumeclaim/left,2Gi,25%,1,<unknown>\r\n"
        "requests.storage,persistentvolumeclaim/told,2Gi,25%,1,2024-01-02T03:04:05Z\r\n");
  const auto no_claims = cluster.AskHere({"who", "storage", "--unused", "--name", "pods"});
  CHECK(no_claims.exit_code == 2);
  CHECK_THAT(no_claims.output, Contains("of which quota storage limits nothing"));
}

TEST_CASE("kubectl quota suggests a quota that the server accepts", "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("pods", Pod("a", {{"cpu", "500m"}, {"memory", "1Gi"}}));
  s.Create("secrets", Secret("x"));
  const auto suggested = cluster.AskHere({"suggest", "--headroom", "50%"});
  CHECK(suggested.exit_code == 0);
  CHECK_THAT(suggested.output, Contains("    pods: \"2\"\n    requests.cpu: 800m\n    "
                                        "requests.memory: 1536Mi\n    secrets: \"2\"\n"));
  CHECK_THAT(suggested.output, Contains("Warning: limits.cpu is left out"));
}

TEST_CASE("kubectl quota report is one page of everything", "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("compute", {{"requests.cpu", "1"}}));
  cluster.WaitUsed("compute", {{"requests.cpu", "0"}});
  s.Create("pods", Pod("a", {{"cpu", "1"}}));
  cluster.WaitUsed("compute", {{"requests.cpu", "1"}});
  const auto page = cluster.AskHere({"report", "-o", "html"});
  CHECK(page.exit_code == 0);
  CHECK_THAT(page.output, Contains("<td>compute<td>requests.<wbr>cpu<td>1<td>1<td>100%"));
  CHECK_THAT(page.output, Contains("<td>pod/a<td"));
  CHECK_THAT(cluster.Ask({"report", "-A"}).output, Contains(s.ns() + ": pod/a"));
}

TEST_CASE("kubectl quota shows Karmada's quotas and who uses them", "[e2e][kubectl-quota]") {
  Federation f;
  f.Limit("all", {{"cpu", "10"}, {"pods", "20"}});
  REQUIRE(f.Post(Binding("web", 3, {{"cpu", "500m"}})).ok());
  f.WaitUsed("all", {{"cpu", "1500m"}, {"pods", "3"}});
  const auto ask = [&](std::vector<std::string> arguments) {
    arguments.push_back("--namespace=" + f.scenario().ns());
    return AskPlugin(f.scenario().server().Kubeconfig(), arguments).output;
  };
  CHECK(ask({"--no-headers"}) ==
        "karmadaquota.policy.karmada.io/all   cpu    1500m/10   15%   8500m   #.........\n"
        "karmadaquota.policy.karmada.io/all   pods   3/20       15%   17      #.........\n");
  CHECK_THAT(ask({"who", "karmadaquota/all", "--name", "cpu"}),
             Contains("cpu        resourcebinding.work.karmada.io/web   1500m    100%    1\n"));
}

TEST_CASE("kubectl quota completes names", "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("compute", {{"pods", "1"}}));
  const auto asked =
      RunProgram({.argv = {BuiltProgram("kubectl-quota"), "__complete", "--kubeconfig",
                           s.server().Kubeconfig(), "-n", s.ns(), "who", "co"}},
                 Patience());
  CHECK_THAT(asked.output, Contains("compute\n:4\n"));
}

TEST_CASE("kubectl quota version shows the version of the daemon", "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  Scenario& s = cluster.scenario();
  auto daemon = DeploymentOf("quota-controller-manager", 0, {{"cpu", "1"}});
  daemon.Make({"metadata", "labels", "app.kubernetes.io/name"}) = "quota-controller-manager";
  s.Create("deployments", daemon);
  const auto both = cluster.Ask({"--version"});
  CHECK(both.exit_code == 0);
  CHECK_THAT(both.output, StartsWith("kubectl-quota "));
  CHECK_THAT(both.output, Contains("registry.invalid/none:1 in " + s.ns() + "\n"));
  CHECK_THAT(cluster.Ask({"version", "--client"}).output, !Contains("registry.invalid"));
}

}  // namespace e2e::kubectl_quota_test
