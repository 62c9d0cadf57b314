// What the plugin says of ClusterQuotas, whose status this test writes: there is no daemon.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/files.h"

namespace e2e::kubectl_quota_cluster_test {
namespace {

using Catch::Matchers::Contains;

std::string StatusOf(const std::string& hard, const std::string& used, const std::string& more) {
  return R"({"status": {"hard": {"pods": ")" + hard + R"("}, "used": {"pods": ")" + used +
         R"("}, "conditions": [{"type": "Ready", "status": "True", "reason": "Counted",
             "lastTransitionTime": "2026-01-01T00:00:00Z"}])" +
         more + "}}";
}

// A company with two teams: team-a has the scenario's namespace, team-b a guarantee.
class Company {
 public:
  Company() : quotas_(s_.api()) {
    s_.api().MergePatch(PathOf("namespaces", "", s_.ns()),
                        Json(R"({"metadata": {"labels": {"team": "a"}}})"));
    quotas_.Create("company", R"({"hard": {"pods": "10"}})");
    quotas_.Create("team-a", R"({"parent": "company", "hard": {"pods": "8"},
        "namespaceSelector": {"matchLabels": {"team": "a"}}})");
    quotas_.Create("team-b", R"({"parent": "company", "hard": {"pods": "6"},
        "guaranteed": {"pods": "4"}, "namespaceSelector": {"matchLabels": {"team": "b"}}})");
    quotas_.Create("trial", R"({"hard": {"pods": "4"}, "enforcement": "Warn",
        "namespaceSelector": {}})");
  }

  [[nodiscard]] Scenario& scenario() { return s_; }

  void WriteStatus(const std::string& name, const std::string& patch) {
    s_.api().MergePatch(ClusterQuotas::Path(name) + "/status", Json(patch));
  }
  // 5 pods are used, of which team-b has 1, and is promised 3 more.
  void Count() {
    WriteStatus("company", StatusOf("10", "5", R"(, "namespaces": 2)"));
    WriteStatus("team-a", StatusOf("8", "4", R"(, "namespaces": 1, "available": {"pods": "2"})"));
    WriteStatus("team-b", StatusOf("6", "1", R"(, "namespaces": 1)"));
    WriteStatus("trial", StatusOf("4", "4", R"(, "namespaces": 7)"));
  }
  ProgramResult Ask(std::vector<std::string> arguments) {
    return AskAs(s_.server().Kubeconfig(), std::move(arguments));
  }
  ProgramResult AskAs(const std::string& kubeconfig, std::vector<std::string> arguments) {
    std::vector<std::string> argv{BuiltProgram("kubectl-quota"), "--kubeconfig=" + kubeconfig};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return RunProgram({.argv = argv, .env = {{"LC_ALL", "C"}}}, Patience());
  }
  ProgramResult AskHere(std::vector<std::string> arguments) {
    arguments.push_back("--namespace=" + s_.ns());
    return Ask(std::move(arguments));
  }
  std::string File(const std::string& name, const std::string& text) {
    return dir_.Write(name, text);
  }

 private:
  Scenario s_;
  ClusterQuotas quotas_;
  TempDir dir_;
};

json::Value DeploymentOf(const std::string& name, int replicas) {
  return Json(
      R"({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": ")" + name +
      R"("}, "spec": {"replicas": )" + std::to_string(replicas) +
      R"(, "selector": {"matchLabels": {"app": ")" + name +
      R"("}}, "template": {"metadata": {"labels": {"app": ")" + name +
      R"("}}, "spec": {"containers": [{"name": "c", "image": "registry.invalid/none:1"}]}}}})");
}

}  // namespace

TEST_CASE("kubectl quota tree shows ClusterQuotas below their parents",
          "[e2e][cluster][kubectl-quota]") {
  Company company;
  const auto uncounted = company.Ask({"tree", "company"});
  CHECK(uncounted.exit_code == 0);
  CHECK_THAT(uncounted.output, Contains("Warning: no quota has a status: nothing is counted"));
  CHECK_THAT(uncounted.output,
             Contains("`- team-b   pods       -/6         -       -           4            "
                      "-            Deny   not counted yet\n"));
  company.Count();
  const auto all = company.Ask({"tree"});
  CHECK(all.exit_code == 0);
  CHECK(all.output ==
        "QUOTA       RESOURCE   USED/HARD   USED%   AVAILABLE   GUARANTEED   NAMESPACES   MODE   "
        "STATE\n"
        "company     pods       5/10        50%     5           -            2            Deny   "
        "Ready\n"
        "|- team-a   pods       4/8         50%     2           -            1            Deny   "
        "Ready\n"
        "`- team-b   pods       1/6         16%     5           4            1            Deny   "
        "Ready\n"
        "trial       pods       4/4         100%    0           -            7            Warn   "
        "Ready\n");
  CHECK(company.AskHere({"tree", "-o", "name"}).output ==
        "clusterquota.quota-controller-manager.io/company\n"
        "clusterquota.quota-controller-manager.io/team-a\n"
        "clusterquota.quota-controller-manager.io/trial\n");
  CHECK_THAT(company.Ask({"tree", "clusterquota/team-b", "-o", "json"}).output,
             Contains("\"guaranteed\": \"4\"") && !Contains("team-a"));
  CHECK_THAT(company.Ask({"tree", "-o", "yaml"}).output, Contains("  parent: company\n"));
  CHECK_THAT(company.Ask({"tree", "-o", "wide"}).output, Contains("SCOPES"));
  const auto missing = company.Ask({"tree", "nobody"});
  CHECK(missing.exit_code == 2);
  CHECK_THAT(missing.output, Contains("\"nobody\" not found; there are: company, team-a, team-b"));
  CHECK_THAT(company.Ask({"__complete", "tree", "te"}).output, !Contains("panic"));
}

TEST_CASE("kubectl quota top shows the ClusterQuotas that the namespace is under",
          "[e2e][cluster][kubectl-quota]") {
  Company company;
  company.Count();
  CHECK(company.AskHere({"top", "--no-headers"}).output ==
        "clusterquota/trial     pods   4/4    100%   0   ##########\n"
        "clusterquota/company   pods   5/10   50%    5   #####.....\n"
        "clusterquota/team-a    pods   4/8    50%    4   #####.....\n");
  CHECK_THAT(company.Ask({"top", "-A"}).output, Contains("clusterquota/team-b"));
  CHECK_THAT(company.AskHere({"top", "-l", "a=b"}).output, Contains("No resources found"));
}

TEST_CASE("kubectl quota tree tells of a parent that there is not, and of an older status",
          "[e2e][cluster][kubectl-quota]") {
  Company company;
  company.Count();
  Api& api = company.scenario().api();
  api.Delete(ClusterQuotas::Path("company"));
  api.MergePatch(ClusterQuotas::Path("team-a"), HardPatch({{"pods", "9"}}));
  const auto tree = company.Ask({"tree", "-o", "wide"});
  CHECK(tree.exit_code == 0);
  CHECK_THAT(tree.output, Contains("ParentNotFound, status of an older spec"));
}

TEST_CASE("kubectl quota tree says where there are no ClusterQuotas",
          "[e2e][cluster][kubectl-quota]") {
  Scenario s;
  const auto tree = RunProgram(
      {.argv = {BuiltProgram("kubectl-quota"), "tree", "--kubeconfig=" + s.server().Kubeconfig()}},
      Patience());
  CHECK(tree.exit_code == 2);
  CHECK_THAT(tree.output, Contains("the server doesn't have a resource type \"clusterquotas\""));
}

TEST_CASE("kubectl quota check asks the ClusterQuotas that the namespace is under",
          "[e2e][cluster][kubectl-quota]") {
  Company company;
  company.Count();
  const auto three = company.File("three.yaml", json::Write(DeploymentOf("web", 3)));
  const auto no = company.AskHere({"check", "-f", three});
  CHECK(no.exit_code == 1);
  CHECK(no.output ==
        "QUOTA                  RESOURCE   BEFORE   ASKED   AFTER   LIMIT   FITS\n"
        "clusterquota/team-a    pods       4        3       7       8       yes\n"
        "clusterquota/company   pods       5        3       8       10      no, lacks 1\n"
        "clusterquota/trial     pods       4        3       7       4       lacks 3, would warn\n"
        "exceeded cluster quota: company (above team-a), requested: pods=3, used: pods=5, limited: "
        "pods=10, guaranteed to others: pods=3\n"
        "would warn: exceeded cluster quota: trial, requested: pods=3, used: pods=4, limited: "
        "pods=4\n"
        "No: 1 of 3 limits would be exceeded.\n");
  CHECK_THAT(company.AskHere({"check", "-f", three, "-o", "junit"}).output,
             Contains("guaranteed to others 3: lacks 1") && Contains("failures=\"1\""));
  CHECK_THAT(company.AskHere({"check", "-f", three, "-o", "json"}).output,
             Contains("\"guaranteedToOthers\": \"3\"") && Contains("\"mode\": \"Warn\""));
  const auto two = company.File("two.yaml", json::Write(DeploymentOf("web", 2)));
  const auto yes = company.AskHere({"check", "-f", two});
  CHECK(yes.exit_code == 0);
  CHECK_THAT(yes.output, Contains("Yes: nothing is refused, but quotas that are only tried would "
                                  "be exceeded.\n"));
  const auto elsewhere = company.Ask({"check", "-f", two, "-n", "default"});
  CHECK_THAT(elsewhere.output, Contains("clusterquota/trial") && !Contains("company"));
}

TEST_CASE("kubectl quota why asks the ClusterQuotas that the namespace is under",
          "[e2e][cluster][kubectl-quota]") {
  Company company;
  company.Count();
  company.scenario().Create("deployments", DeploymentOf("web", 3));
  const auto fits = company.AskHere({"why", "deploy/web"});
  CHECK(fits.exit_code == 0);
  CHECK_THAT(
      fits.output,
      Contains("cluster quota team-a    pods 4/8, fits\n") &&
          Contains("cluster quota company   pods 5/10, 5 free, 3 guaranteed to others, lacks "
                   "1 for all\n") &&
          Contains("cluster quota trial     pods 4/4, 0 free, lacks 1 for the next, 3 for "
                   "all            ← would warn\n") &&
          Contains("no quota refuses the next one\n"));
  company.WriteStatus("company", StatusOf("10", "7", ""));
  const auto refused = company.AskHere({"why", "deploy/web"});
  CHECK(refused.exit_code == 1);
  CHECK_THAT(refused.output,
             Contains("the next is refused: exceeded cluster quota: company (above team-a), "
                      "requested: pods=1, used: pods=7, limited: pods=10, guaranteed to others: "
                      "pods=3\n") &&
                 Contains("room: raise pods of cluster quota company to 13\n"));
}

TEST_CASE("kubectl quota check is quiet where ClusterQuotas are not for the user to see",
          "[e2e][cluster][kubectl-quota][real-only]") {
  Company company;
  company.Count();
  Scenario& s = company.scenario();
  const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/" + s.ns();
  s.api().Create(rbac + "/roles", Json(R"({"metadata": {"name": "viewer"}, "rules": [{
      "apiGroups": ["", "apps"], "resources": ["resourcequotas", "deployments", "limitranges"],
      "verbs": ["get", "list"]}]})"));
  s.api().Create(rbac + "/rolebindings", Json(R"({"metadata": {"name": "viewer"},
      "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "viewer"},
      "subjects": [
        {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "stranger"}]})"));
  auto fields = s.server().Fields();
  fields.token = "e2e-stranger-token";
  const auto stranger = company.File("stranger.kubeconfig", KubeconfigText(fields));
  const auto three = company.File("three.yaml", json::Write(DeploymentOf("web", 3)));
  Eventually("the role is known, and nothing is said of ClusterQuotas", [&]() -> std::string {
    const auto check = company.AskAs(stranger, {"check", "-f", three, "-n", s.ns()});
    return check.output == "Yes: no quota limits any of it.\n" ? "" : check.output;
  });
  const auto tree = company.AskAs(stranger, {"tree"});
  CHECK(tree.exit_code == 2);
  CHECK_THAT(tree.output, Contains("cannot list resource \"clusterquotas\""));
}

}  // namespace e2e::kubectl_quota_cluster_test
