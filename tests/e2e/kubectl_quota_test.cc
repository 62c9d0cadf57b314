// Compares the plugin's output with the server: the sandbox with the daemon, or the real
// kube-apiserver with its own quota plugin and kube-controller-manager.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/federation.h"
#include "tests/e2e/harness/scenario.h"

namespace e2e::kubectl_quota_test {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

// A namespace whose quotas are counted: by Kubernetes' own plugin and controllers if the server has
// them, otherwise by the daemon.
class Cluster {
 public:
  Cluster() : s_(ServerOptions{.quota_plugin = true}) {
    if (!HaveBuiltinController()) {
      s_.StartDaemon();
      return;
    }
    controllers_ = StartBuiltinController(
        "resourcequota-controller,deployment-controller,replicaset-controller,job-controller",
        s_.server().Kubeconfig(), dir_.path() + "/controllers.log",
        // If the controller counts before its cache has the plugin's last charge, it counts too
        // little.
        // With a short period it corrects that soon.
        {"--resource-quota-sync-period=2s"});
  }

  [[nodiscard]] Scenario& scenario() { return s_; }
  // True if controllers create the pods of Deployments.
  [[nodiscard]] bool has_controllers() const { return controllers_ != nullptr; }

  // Waits until the controller's cache has `pods` pods. From then on no recount lowers a quota
  // below them. The plugin charges a pod at once, so the status of an older quota does not tell.
  void WaitCounted(const std::string& pods) {
    s_.Create("resourcequotas", Quota("counted", {{"pods", "100"}}));
    s_.WaitUsed("counted", {{"pods", pods}});
    s_.Delete("resourcequotas", "counted");
  }

  ProgramResult Ask(std::vector<std::string> arguments) {
    return AskAs(s_.server().Kubeconfig(), std::move(arguments));
  }
  ProgramResult AskAs(const std::string& kubeconfig, std::vector<std::string> arguments) {
    std::vector<std::string> argv{BuiltProgram("kubectl-quota"), "--kubeconfig=" + kubeconfig};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return RunProgram({.argv = argv, .env = {{"LC_ALL", "C"}}}, Patience());
  }
  // Runs the plugin in the scenario's namespace.
  ProgramResult AskHere(std::vector<std::string> arguments) {
    arguments.push_back("--namespace=" + s_.ns());
    return Ask(std::move(arguments));
  }
  std::string File(const std::string& name, const std::string& text) {
    return dir_.Write(name, text);
  }

 private:
  Scenario s_;
  TempDir dir_;
  std::unique_ptr<Process> controllers_;
};

json::Value DeploymentOf(const std::string& name, int replicas, const std::string& cpu) {
  return Json(R"({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": ")" + name +
              R"("}, "spec": {"replicas": )" + std::to_string(replicas) +
              R"(, "selector": {"matchLabels": {"app": ")" + name +
              R"("}}, "template": {"metadata": {"labels": {"app": ")" + name +
              R"("}}, "spec": {"containers": [{"name": "c", "image": "registry.invalid/none:1",
                 "resources": {"requests": {"cpu": ")" +
              cpu + R"("}}}]}}}})");
}

// Returns the object with an owner reference to `owner`.
json::Value Owned(json::Value object, const json::Value& owner) {
  json::Object reference{{"apiVersion", owner.StringAt({"apiVersion"})},
                         {"kind", owner.StringAt({"kind"})},
                         {"name", owner.StringAt({"metadata", "name"})},
                         {"uid", owner.StringAt({"metadata", "uid"})},
                         {"controller", true}};
  object.Make({"metadata", "ownerReferences"}) = json::Array{std::move(reference)};
  return object;
}

// Creates a Deployment of one pod. On a server without controllers it also creates the ReplicaSet
// and the pod.
void MakeDeploymentWithPod(Cluster& cluster, const std::string& name, const std::string& cpu) {
  Scenario& s = cluster.scenario();
  const auto deployment = s.Create("deployments", DeploymentOf(name, 1, cpu));
  if (cluster.has_controllers()) return;
  json::Value set = DeploymentOf(name + "-1", 1, cpu);
  set.Make({"kind"}) = "ReplicaSet";
  auto pod = Owned(Pod(name + "-1-x", {{"cpu", cpu}}),
                   s.Create("replicasets", Owned(std::move(set), deployment)));
  pod.Make({"metadata", "labels", "app"}) = name;
  s.Create("pods", pod);
}

}  // namespace

TEST_CASE("kubectl quota top shows each quota and name, the fullest first",
          "[e2e][kubectl-quota]") {
  Cluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("compute", {{"pods", "4"}, {"requests.cpu", "1"}}));
  s.WaitUsed("compute", {{"pods", "0"}, {"requests.cpu", "0"}});
  s.Create("pods", Pod("a", {{"cpu", "900m"}}));
  s.WaitUsed("compute", {{"pods", "1"}, {"requests.cpu", "900m"}});

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
  Cluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("compute", {{"pods", "4"}, {"secrets", "5"}}));
  s.WaitUsed("compute", {{"pods", "0"}, {"secrets", "0"}});
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
  Cluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("compute", {{"requests.cpu", "4"}, {"pods", "9"}}));
  s.WaitUsed("compute", {{"requests.cpu", "0"}, {"pods", "0"}});
  MakeDeploymentWithPod(cluster, "made", "1500m");
  s.Create("pods", Pod("alone", {{"cpu", "500m"}}));
  s.WaitUsed("compute", {{"requests.cpu", "2"}, {"pods", "2"}});

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

TEST_CASE("kubectl quota why says what is lacking, who holds it and what would make room",
          "[e2e][kubectl-quota]") {
  Cluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("compute", {{"requests.cpu", "2"}, {"pods", "9"}}));
  s.WaitUsed("compute", {{"requests.cpu", "0"}, {"pods", "0"}});
  s.Create("pods", Pod("greedy", {{"cpu", "1500m"}}));
  s.WaitUsed("compute", {{"requests.cpu", "1500m"}, {"pods", "1"}});
  const auto deployment = s.Create("deployments", DeploymentOf("web", 1, "500m"));
  if (!cluster.has_controllers()) {
    s.Create("pods", Owned(Pod("web-1", {{"cpu", "500m"}}), deployment));
  }
  // Only then are more pods wanted. A recount that misses the first ones would admit them.
  cluster.WaitCounted("2");
  s.WaitUsed("compute", {{"requests.cpu", "2"}, {"pods", "2"}});
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
}

TEST_CASE("kubectl quota check tells what would fit, and charges only changes",
          "[e2e][kubectl-quota]") {
  Cluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("compute", {{"requests.cpu", "2"}, {"pods", "4"}}));
  s.WaitUsed("compute", {{"requests.cpu", "0"}, {"pods", "0"}});
  const auto fits = cluster.File("fits.yaml", json::Write(DeploymentOf("web", 3, "500m")));
  const auto yes = cluster.AskHere({"check", "-f", fits});
  CHECK(yes.exit_code == 0);
  CHECK(yes.output ==
        "QUOTA     RESOURCE       BEFORE   ASKED   AFTER   LIMIT   FITS\n"
        "compute   pods           0        3       3       4       yes\n"
        "compute   requests.cpu   0        1500m   1500m   2       yes\n"
        "Yes: all of it fits.\n");
  const auto asked = cluster.AskHere({"check", "--server", "-f", fits});
  CHECK(asked.exit_code == 0);
  CHECK_THAT(asked.output, Contains("server: deployment.apps/web is accepted\n"));
  CHECK_FALSE(s.api().Exists(s.Path("deployments", "web")));
  const auto both = cluster.File("both.yaml", json::Write(DeploymentOf("web", 3, "500m")) +
                                                  "\n---\n" + json::Write(Pod("more", {})));
  const auto no = cluster.AskHere({"check", "-f", both, "-o", "junit"});
  CHECK(no.exit_code == 1);
  CHECK_THAT(no.output, Contains("must specify requests.cpu for: "));

  MakeDeploymentWithPod(cluster, "web", "500m");
  s.WaitUsed("compute", {{"requests.cpu", "500m"}, {"pods", "1"}});
  if (cluster.has_controllers()) {
    Eventually("only the growth is counted", [&]() -> std::string {
      const auto grown = cluster.AskHere({"check", "-f", fits}).output;
      return grown.find("pods           1        2       3") != std::string::npos ? "" : grown;
    });
  }
  CHECK_THAT(cluster.AskHere({"check", "--replace", "-f", fits}).output,
             Contains("requests.cpu   500m     1500m   2       2       yes"));
}

TEST_CASE("kubectl quota check needs no cluster if quotas are files", "[e2e][kubectl-quota]") {
  TempDir dir;
  const auto manifest = dir.Write("web.yaml", json::Write(DeploymentOf("web", 3, "500m")));
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
        "No: 1 of 1 limits would be exceeded.\n");
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

TEST_CASE("kubectl quota suggests a quota that the server accepts", "[e2e][kubectl-quota]") {
  Cluster cluster;
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
  Cluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("compute", {{"requests.cpu", "1"}}));
  s.WaitUsed("compute", {{"requests.cpu", "0"}});
  s.Create("pods", Pod("a", {{"cpu", "1"}}));
  s.WaitUsed("compute", {{"requests.cpu", "1"}});
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
    std::vector<std::string> argv{BuiltProgram("kubectl-quota"), "-n", f.scenario().ns(),
                                  "--kubeconfig=" + f.scenario().server().Kubeconfig()};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return RunProgram({.argv = argv, .env = {{"LC_ALL", "C"}}}, Patience()).output;
  };
  CHECK(ask({"--no-headers"}) ==
        "karmadaquota.policy.karmada.io/all   cpu    1500m/10   15%   8500m   #.........\n"
        "karmadaquota.policy.karmada.io/all   pods   3/20       15%   17      #.........\n");
  CHECK_THAT(ask({"who", "karmadaquota/all", "--name", "cpu"}),
             Contains("cpu        resourcebinding.work.karmada.io/web   1500m    100%    1\n"));
}

TEST_CASE("kubectl quota completes names", "[e2e][kubectl-quota]") {
  Cluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("compute", {{"pods", "1"}}));
  const auto asked =
      RunProgram({.argv = {BuiltProgram("kubectl-quota"), "__complete", "--kubeconfig",
                           s.server().Kubeconfig(), "-n", s.ns(), "who", "co"}},
                 Patience());
  CHECK_THAT(asked.output, Contains("compute\n:4\n"));
}

TEST_CASE("kubectl quota names a missing right", "[e2e][kubectl-quota]") {
  if (CurrentTier() != Tier::kReal) return;  // the sandbox knows one user, who may do all
  Cluster cluster;
  auto fields = cluster.scenario().server().Fields();
  fields.token = "e2e-stranger-token";
  const auto stranger = cluster.File("stranger.kubeconfig", KubeconfigText(fields));
  const auto all = cluster.AskAs(stranger, {"-A"});
  CHECK(all.exit_code == 2);
  CHECK_THAT(all.output,
             Contains("Error from server (Forbidden): resourcequotas is forbidden: User "
                      "\"stranger\" cannot list resource \"resourcequotas\" in API group \"\" at "
                      "the cluster scope"));
}

TEST_CASE("kubectl quota shows what the user may read, and says what is left out",
          "[e2e][kubectl-quota][controller-manager]") {
  if (CurrentTier() != Tier::kReal) return;  // the sandbox knows one user, who may do all
  Cluster cluster;
  Scenario& s = cluster.scenario();
  s.Create("resourcequotas", Quota("compute", {{"pods", "1"}}));
  s.WaitUsed("compute", {{"pods", "0"}});
  s.Create("deployments", DeploymentOf("web", 2, "500m"));
  s.WaitUsed("compute", {{"pods", "1"}});
  const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/" + s.ns();
  s.api().Create(rbac + "/roles", Json(R"({"metadata": {"name": "viewer"}, "rules": [{
      "apiGroups": ["", "apps"], "resources": ["resourcequotas", "deployments"],
      "verbs": ["get", "list"]}]})"));
  s.api().Create(rbac + "/rolebindings", Json(R"({"metadata": {"name": "viewer"},
      "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "viewer"},
      "subjects": [
        {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "stranger"}]})"));
  auto fields = s.server().Fields();
  fields.token = "e2e-stranger-token";
  const auto stranger = cluster.File("stranger.kubeconfig", KubeconfigText(fields));
  const auto ask = [&](std::vector<std::string> arguments) {
    arguments.push_back("--namespace=" + s.ns());
    return cluster.AskAs(stranger, std::move(arguments));
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
  const auto file = cluster.File("other.yaml", json::Write(DeploymentOf("other", 1, "500m")));
  const auto check = ask({"check", "--server", "-f", file});
  CHECK(check.exit_code == 1);
  CHECK_THAT(check.output, Contains("server: deployment.apps/other cannot be asked about: "));
  CHECK_THAT(check.output, !Contains("PriorityClass"));  // nothing refers to one
  CHECK_THAT(ask({"report"}).output, Contains("<p>shown without pods: "));
}

TEST_CASE("kubectl quota version shows the version of the daemon", "[e2e][kubectl-quota]") {
  Cluster cluster;
  Scenario& s = cluster.scenario();
  auto daemon = DeploymentOf("quota-controller-manager", 0, "1");
  daemon.Make({"metadata", "labels", "app.kubernetes.io/name"}) = "quota-controller-manager";
  s.Create("deployments", daemon);
  const auto both = cluster.Ask({"--version"});
  CHECK(both.exit_code == 0);
  CHECK_THAT(both.output, StartsWith("kubectl-quota "));
  CHECK_THAT(both.output, Contains("registry.invalid/none:1 in " + s.ns() + "\n"));
  CHECK_THAT(cluster.Ask({"version", "--client"}).output, !Contains("registry.invalid"));
}

TEST_CASE("kubectl quota refuses a wrong call with one line and 2", "[e2e][kubectl-quota]") {
  Cluster cluster;
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

}  // namespace e2e::kubectl_quota_test
