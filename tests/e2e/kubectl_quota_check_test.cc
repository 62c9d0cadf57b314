// What kubectl quota says of manifests before they are applied, and of workloads that lack pods.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/counted_cluster.h"

namespace e2e::kubectl_quota_check_test {

using Catch::Matchers::Contains;

TEST_CASE("kubectl quota why says what is lacking, who holds it and what would make room",
          "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("compute", {{"requests.cpu", "2"}, {"pods", "9"}}));
  cluster.WaitUsed("compute", {{"requests.cpu", "0"}, {"pods", "0"}});
  s.Create("pods", Pod("greedy", {{"cpu", "1500m"}}));
  cluster.WaitUsed("compute", {{"requests.cpu", "1500m"}, {"pods", "1"}});
  const auto deployment = s.Create("deployments", DeploymentOf("web", 1, {{"cpu", "500m"}}));
  if (!cluster.has_controllers()) {
    s.Create("pods", Owned(Pod("web-1", {{"cpu", "500m"}}), deployment));
  }
  // Only then are more pods wanted. A recount that misses the first ones would admit them.
  cluster.WaitUsed("compute", {{"requests.cpu", "2"}, {"pods", "2"}});
  if (cluster.has_controllers()) {
    Eventually("the Deployment knows its pod", [&]() -> std::string {
      const json::Value web = s.api().Get(s.Path("deployments", "web"));
      return web.At({"status", "updatedReplicas"}) != nullptr ? "" : json::Write(web);
    });
  }
  s.api().MergePatch(s.Path("deployments", "web"), Json(R"({"spec":{"replicas":3}})"));

  const auto why = cluster.AskHere({"why", "deploy/web"});
  CHECK(why.exit_code == 1);
  CHECK_THAT(why.output, Contains("deployment.apps/web wants 3 pods and has 1: each needs pods=1 "
                                  "requests.cpu=500m\n"));
  CHECK_THAT(why.output,
             Contains("quota compute   requests.cpu 2/2, 0 free, lacks 500m for the next, 1 for "
                      "all   ← refuses\n"));
  CHECK_THAT(why.output, Contains("quota compute   pods 2/9, fits\n"));
  CHECK_THAT(why.output, Contains("room: raise requests.cpu of quota compute to 3, or delete "
                                  "pod/greedy (requests.cpu=1500m)\n"));
  if (cluster.has_controllers()) {
    Eventually("the output has the refusal", [&]() -> std::string {
      const auto told = cluster.AskHere({"why", "deployment/web"}).output;
      const bool all = told.find("last refused ") != std::string::npos &&
                       told.find("exceeded quota: compute") != std::string::npos;
      return all ? "" : told;
    });
  }
  s.Delete("pods", "greedy");
  s.api().MergePatch(s.Path("resourcequotas", "compute"), HardPatch({{"requests.cpu", "8"}}));
  Eventually("no quota refuses any more", [&]() -> std::string {
    const auto again = cluster.AskHere({"why", "deployments.apps/web"});
    return again.exit_code == 0 ? "" : again.output;
  });
  const auto pod = cluster.AskHere({"why", "nowhere"});
  CHECK(pod.exit_code == 2);
  CHECK_THAT(pod.output, Contains("Error from server (NotFound): pods \"nowhere\" not found"));
  const auto kind = cluster.AskHere({"why", "gadget/x"});
  CHECK(kind.exit_code == 2);
  CHECK_THAT(kind.output, Contains("the server doesn't have a resource type \"gadget\""));
  s.api().Create("/apis/autoscaling/v2/namespaces/" + s.ns() + "/horizontalpodautoscalers",
                 Json(R"({
      "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata":
      {"name": "hpa"}, "spec": {"maxReplicas": 9, "scaleTargetRef": {"apiVersion": "apps/v1",
      "kind": "Deployment", "name": "none"}}})"));
  const auto scaler = cluster.AskHere({"why", "hpa/hpa"});
  CHECK(scaler.exit_code == 2);
  CHECK_THAT(scaler.output,
             Contains("horizontalpodautoscaler.autoscaling/hpa has no pod template"));
}

// The sandbox has no plugins.
TEST_CASE("kubectl quota check foresees the refusal of pods whose class does not exist",
          "[e2e][kubectl-quota][real-only]") {
  CountedCluster cluster;
  for (const auto& [spec, words] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"("runtimeClassName": "e2e-none")",
            "pod rejected: RuntimeClass \"e2e-none\" not found"},
           {R"("priorityClassName": "e2e-none")",
            "no PriorityClass with name e2e-none was found"}}) {
    const auto pod = Json(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec":
        {"containers": [{"name": "c", "image": "i"}], )" +
                          std::string(spec) + "}}");
    const auto file = cluster.File("pod.json", json::Write(pod));
    const auto told = cluster.AskHere({"check", "--dry-run=server", "-f", file});
    INFO(told.output);
    CHECK(told.exit_code == 1);
    CHECK_THAT(told.output, Contains("pod/p: " + std::string(words) + "\n"));
    CHECK_THAT(told.output, Contains("server: pod/p is refused: pods \"p\" is forbidden: " +
                                     std::string(words)));
    CHECK_THAT(told.output, !Contains("(check foresees "));
  }
  const auto critical = cluster.File(
      "critical.json", R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec":
          {"containers": [{"name": "c", "image": "i"}],
           "priorityClassName": "system-cluster-critical"}})");
  const auto told = cluster.AskHere({"check", "-f", critical});
  INFO(told.output);
  CHECK(told.exit_code == 0);
}

TEST_CASE("kubectl quota why names only what makes room", "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("q", {{"persistentvolumeclaims", "1"}, {"pods", "3"}}));
  cluster.WaitUsed("q", {{"persistentvolumeclaims", "0"}, {"pods", "0"}});
  s.Create("persistentvolumeclaims", Json(R"({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
      "metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources":
      {"requests": {"storage": "1Gi"}}}})"));
  cluster.WaitUsed("q", {{"persistentvolumeclaims", "1"}, {"pods", "0"}});
  const json::Value set = Json(R"({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata":
      {"name": "db"}, "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "b"}},
      "volumeClaimTemplates": [{"metadata": {"name": "own"}, "spec": {"accessModes":
      ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}], "template": {"metadata":
      {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}})");
  s.Create("statefulsets", set);
  const std::string raise = "room: raise persistentvolumeclaims of quota q to 2";
  const auto room = [&] {
    const std::string output = cluster.AskHere({"why", "sts/db"}).output;
    const std::size_t begin = output.find("room: ");
    return begin == std::string::npos ? output : output.substr(begin);
  };
  CHECK(room() == raise + ", or delete persistentvolumeclaim/data (persistentvolumeclaims=1)\n");
  json::Value user = Pod("user");
  user.Make({"spec", "volumes"}) =
      Json(R"([{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}])");
  s.Create("pods", user);
  cluster.WaitUsed("q", {{"persistentvolumeclaims", "1"}, {"pods", "1"}});
  CHECK(room() == raise + "\n");
  // A value that is missing comes first. It does not make room for the claim.
  s.Create("resourcequotas", Quota("memory", {{"limits.memory", "1Gi"}}));
  cluster.WaitUsed("memory", {{"limits.memory", "0"}});
  CHECK(room() ==
        "room: specify limits.memory for: c (at most 1Gi in all missing pods), and raise "
        "persistentvolumeclaims of quota q to 2\n");
}

TEST_CASE("kubectl quota check tells what would fit, and charges only changes",
          "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("compute", {{"requests.cpu", "2"}, {"pods", "4"}}));
  cluster.WaitUsed("compute", {{"requests.cpu", "0"}, {"pods", "0"}});
  const auto fits =
      cluster.File("fits.yaml", json::Write(DeploymentOf("web", 3, {{"cpu", "500m"}})));
  const auto yes = cluster.AskHere({"check", "-f", fits});
  CHECK(yes.exit_code == 0);
  CHECK(yes.output ==
        "QUOTA     RESOURCE       BEFORE   ASKED   AFTER   LIMIT   FITS\n"
        "compute   pods           0        3       3       4       yes\n"
        "compute   requests.cpu   0        1500m   1500m   2       yes\n"
        "Yes: all of it fits.\n");
  const auto asked = cluster.AskHere({"check", "--dry-run=server", "-f", fits});
  CHECK(asked.exit_code == 0);
  CHECK_THAT(asked.output, Contains("server: deployment.apps/web is accepted\n"));
  CHECK_FALSE(s.api().Exists(s.Path("deployments", "web")));
  const auto both =
      cluster.File("both.yaml", json::Write(DeploymentOf("web", 3, {{"cpu", "500m"}})) + "\n---\n" +
                                    json::Write(Pod("more", {})));
  const auto no = cluster.AskHere({"check", "-f", both, "-o", "junit"});
  CHECK(no.exit_code == 1);
  CHECK_THAT(no.output, Contains("must specify requests.cpu for: "));

  cluster.MakeDeploymentWithPod("web", "500m");
  cluster.WaitUsed("compute", {{"requests.cpu", "500m"}, {"pods", "1"}});
  if (cluster.has_controllers()) {
    Eventually("only the growth is counted", [&]() -> std::string {
      const auto grown = cluster.AskHere({"check", "-f", fits}).output;
      return grown.find("pods           1        2       3") != std::string::npos ? "" : grown;
    });
  }
  CHECK_THAT(cluster.AskHere({"check", "--replace", "-f", fits}).output,
             Contains("requests.cpu   500m     1500m   2       2       yes"));
}

TEST_CASE("kubectl quota check applies the quotas and LimitRanges of the files first",
          "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("pods", Pod("a", {{"cpu", "500m"}}));
  cluster.WaitCounted({{"pods", "1"}});
  const json::Value quota = Quota("compute", {{"pods", "3"}, {"requests.cpu", "2"}});
  const json::Value range = Json(R"({"apiVersion": "v1", "kind": "LimitRange",
      "metadata": {"name": "defaults"},
      "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "300m"}}]}})");
  const auto files = [&](int replicas) {
    return cluster.File("files.json", json::Write(DeploymentOf("web", replicas)) + "\n---\n" +
                                          json::Write(quota) + "\n---\n" + json::Write(range));
  };
  const auto yes = cluster.AskHere({"check", "-f", files(2)});
  CHECK(yes.exit_code == 0);
  CHECK(yes.output ==
        "QUOTA     RESOURCE       BEFORE   ASKED   AFTER   LIMIT   FITS\n"
        "compute   pods           1        2       3       3       yes\n"
        "compute   requests.cpu   500m     600m    1100m   2       yes\n"
        "Yes: all of it fits.\n");
  const auto no = cluster.AskHere({"check", "-f", files(3)});
  CHECK(no.exit_code == 1);
  CHECK_THAT(no.output, Contains("compute   pods           1        3       4       3       no, "
                                 "lacks 1\n"));
  s.Create("resourcequotas", quota);
  cluster.WaitUsed("compute", {{"pods", "1"}, {"requests.cpu", "500m"}});
  CHECK(cluster.AskHere({"check", "-f", files(2)}).output == yes.output);
}

TEST_CASE("kubectl quota check counts the minimum of an autoscaler", "[e2e][kubectl-quota]") {
  CountedCluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("compute", {{"pods", "4"}}));
  cluster.WaitUsed("compute", {{"pods", "0"}});
  json::Value scaler = Json(R"({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
      "metadata": {"name": "web"}, "spec": {"minReplicas": 3, "maxReplicas": 9, "scaleTargetRef":
      {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}})");
  const json::Value web = DeploymentOf("web", 1);
  const auto files = cluster.File("files.json", json::Write(web) + "\n---\n" + json::Write(scaler));
  const auto yes = cluster.AskHere({"check", "-f", files});
  CHECK(yes.exit_code == 0);
  CHECK(yes.output ==
        "QUOTA     RESOURCE   BEFORE   ASKED   AFTER   LIMIT   FITS\n"
        "compute   pods       0        3       3       4       yes\n"
        "note: deployment.apps/web: counted with 3 pods; horizontalpodautoscaler.autoscaling/web "
        "may make it 9\n"
        "Yes: all of it fits.\n");
  if (!cluster.has_controllers()) return;
  const std::string scalers =
      "/apis/autoscaling/v2/namespaces/" + s.ns() + "/horizontalpodautoscalers";
  s.Create("deployments", web);
  s.api().Create(scalers, scaler);
  cluster.WaitUsed("compute", {{"pods", "3"}});
  // Alone in a file, it scales what is stored.
  scaler.Make({"spec", "minReplicas"}) = 5;
  const auto more =
      cluster.AskHere({"check", "-f", cluster.File("more.json", json::Write(scaler))});
  CHECK(more.exit_code == 1);
  CHECK_THAT(more.output, Contains("compute   pods       3        2       5       4       no, "
                                   "lacks 1\n"));
}

TEST_CASE("kubectl quota check refuses a kind that the server does not serve",
          "[e2e][kubectl-quota]") {
  PluginScenario plugin;
  const auto file = plugin.File("old.json", R"({"apiVersion": "policy/v1beta1",
      "kind": "PodDisruptionBudget", "metadata": {"name": "x"}, "spec": {"minAvailable": 1}})");
  const auto no = plugin.AskHere({"check", "-f", file});
  CHECK(no.exit_code == 1);
  CHECK_THAT(no.output, Contains("poddisruptionbudget.policy/x: no matches for kind "
                                 "\"PodDisruptionBudget\" in version \"policy/v1beta1\"\n"));
}

TEST_CASE("kubectl quota check refuses objects of a namespace that does not exist",
          "[e2e][kubectl-quota]") {
  PluginScenario plugin;
  const std::string ns = FreshName("e2e-absent");
  const std::string pod = json::Write(Pod("p"));
  const auto file = plugin.File("pod.json", pod);
  const auto no = plugin.Ask({"check", "-n", ns, "-f", file});
  CHECK(no.exit_code == 1);
  CHECK(no.output == "pod/p: namespaces \"" + ns +
                         "\" not found\n"
                         "No: 1 object or its pods would be refused whatever is free.\n");
  const auto asked = plugin.Ask({"check", "-n", ns, "-f", file, "--dry-run=server"});
  CHECK(asked.exit_code == 1);
  CHECK_THAT(asked.output,
             Contains("server: pod/p is refused: namespaces \"" + ns + "\" not found\n"));
  const auto with = plugin.File(
      "with.json", R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ")" + ns +
                       "\"}}\n---\n" + pod);
  const auto yes = plugin.Ask({"check", "-n", ns, "-f", with});
  INFO(yes.output);
  CHECK(yes.exit_code == 0);
}

TEST_CASE("kubectl quota check needs no cluster if quotas are files", "[e2e][kubectl-quota]") {
  TempDir dir;
  const auto manifest =
      dir.Write("web.yaml", json::Write(DeploymentOf("web", 3, {{"cpu", "500m"}})));
  const auto quota = dir.Write("quota.yaml", json::Write(Quota("compute", {{"pods", "2"}})));
  const auto ask = [&](const std::vector<std::string>& more) {
    std::vector<std::string> argv{BuiltProgram("kubectl-quota"), "check", "-f", manifest};
    argv.insert(argv.end(), more.begin(), more.end());
    return RunProgram({.argv = argv, .env = {{"KUBECONFIG", "/nowhere"}, {"LC_ALL", "C"}}},
                      Patience());
  };
  const auto no = ask({"--quota-file", quota});
  CHECK(no.exit_code == 1);
  CHECK(no.output ==
        "QUOTA     RESOURCE   BEFORE   ASKED   AFTER   LIMIT   FITS\n"
        "compute   pods       0        3       3       2       no, lacks 1\n"
        "No: 1 of 1 limit would be exceeded.\n");
  const auto misspelt = dir.Write(
      "misspelt.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {container: []}\n");
  const auto refused = ask({"-f", misspelt, "--quota-file", quota});
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.output, Contains("misspelt.yaml: pod/p: unknown field spec.container"));
  CHECK(ask({"-f", misspelt, "--quota-file", quota, "--validate=false"}).exit_code == 1);
  const auto broken = dir.Write("broken.yaml", "a: b: c\n");
  const auto unreadable = ask({"-f", broken, "--quota-file", quota});
  CHECK(unreadable.exit_code == 2);
  CHECK_THAT(unreadable.output, Contains("broken.yaml: malformed YAML at line 1"));
}

}  // namespace e2e::kubectl_quota_check_test
