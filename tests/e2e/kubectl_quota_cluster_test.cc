// The plugin's output about ClusterQuotas. There is no daemon: the test writes their statuses.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/plugin_scenario.h"

namespace e2e::kubectl_quota_cluster_test {
namespace {

using Catch::Matchers::Contains;

std::string StatusOf(const std::string& hard, const std::string& used, const std::string& more) {
  return R"({"status": {"hard": {"pods": ")" + hard + R"("}, "used": {"pods": ")" + used +
         R"("}, "conditions": [{"type": "Ready", "status": "True", "reason": "Counted",
             "lastTransitionTime": "2026-01-01T00:00:00Z"}])" +
         more + "}}";
}

// A company with two teams. team-a has the scenario's namespace, and team-b has a guarantee.
class Company : public PluginScenario {
 public:
  Company() : quotas_(scenario().api()) {
    scenario().api().MergePatch(PathOf("namespaces", "", scenario().ns()),
                                Json(R"({"metadata": {"labels": {"team": "a"}}})"));
    quotas_.Create("company", R"({"hard": {"pods": "10"}})");
    quotas_.Create("team-a", R"({"parent": "company", "hard": {"pods": "8"},
        "namespaceSelector": {"matchLabels": {"team": "a"}}})");
    quotas_.Create("team-b", R"({"parent": "company", "hard": {"pods": "6"},
        "guaranteed": {"pods": "4"}, "namespaceSelector": {"matchLabels": {"team": "b"}}})");
    quotas_.Create("trial", R"({"hard": {"pods": "4"}, "enforcement": "Warn",
        "namespaceSelector": {}})");
  }

  void WriteStatus(const std::string& name, const std::string& patch) {
    scenario().api().MergePatch(ClusterQuotas::Path(name) + "/status", Json(patch));
  }
  // Writes statuses with a usage of 5 pods: 1 of team-b, which is guaranteed 3 more, and 4 of
  // team-a.
  void Count() {
    WriteStatus("company", StatusOf("10", "5", R"(, "namespaces": 2)"));
    WriteStatus("team-a", StatusOf("8", "4", R"(, "namespaces": 1, "available": {"pods": "2"})"));
    WriteStatus("team-b", StatusOf("6", "1", R"(, "namespaces": 1)"));
    WriteStatus("trial", StatusOf("4", "4", R"(, "namespaces": 7)"));
  }

 private:
  ClusterQuotas quotas_;
};

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

TEST_CASE("kubectl quota top shows the ClusterQuotas that limit the namespace",
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

TEST_CASE("kubectl quota tree reports a missing parent and an outdated status",
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

TEST_CASE("kubectl quota tree reports that ClusterQuotas are not served",
          "[e2e][cluster][kubectl-quota]") {
  Scenario s;
  const auto tree = AskPlugin(s.server().Kubeconfig(), {"tree"});
  CHECK(tree.exit_code == 2);
  CHECK_THAT(tree.output, Contains("the server doesn't have a resource type \"clusterquotas\""));
}

TEST_CASE("kubectl quota check includes the ClusterQuotas that limit the namespace",
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
  CHECK_THAT(yes.output, Contains("Yes: nothing is refused, but quotas in mode Warn or Audit would "
                                  "be exceeded.\n"));
  const auto elsewhere = company.Ask({"check", "-f", two, "-n", "default"});
  CHECK_THAT(elsewhere.output, Contains("clusterquota/trial") && !Contains("company"));
}

TEST_CASE("kubectl quota why includes the ClusterQuotas that limit the namespace",
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

TEST_CASE("kubectl quota who shows the users of a ClusterQuota in all its namespaces",
          "[e2e][cluster][kubectl-quota]") {
  Company company;
  Scenario& s = company.scenario();
  TeamNamespace more(s.api(), "a");
  TeamNamespace other(s.api(), "b");
  s.Create("pods", Pod("here"));
  for (const char* pod : {"one", "two"}) more.Create(pod);
  other.Create("theirs");
  company.WriteStatus("company", StatusOf("10", "5", ""));
  company.WriteStatus("team-a", StatusOf("8", "3", ""));
  const auto by_namespace = company.AskHere({"who", "team-a", "--by", "namespace"});
  CHECK(by_namespace.exit_code == 0);
  CHECK_THAT(by_namespace.output, Contains(more.name() + "   2        66%     2\n") &&
                                      Contains(s.ns()) && !Contains(other.name()));
  const auto objects = company.AskHere({"who", "clq/team-a", "--by=object", "-o", "csv"});
  CHECK_THAT(objects.output, Contains("pods," + more.name() + ": pod/one,1,"));
  const auto above = company.AskHere({"who", "clusterquota/company", "--name=pods", "--most=0"});
  CHECK(above.exit_code == 0);
  CHECK_THAT(above.output, Contains(s.ns() + ": pod/here") &&
                               Contains(other.name() + ": pod/theirs") && Contains("<reserved>"));
  const auto none = company.AskHere({"who", "clusterquota/nobody"});
  CHECK(none.exit_code == 2);
  CHECK_THAT(none.output, Contains("\"nobody\" not found; there are: company, team-a"));
  const auto unlimited = company.AskHere({"who", "team-a", "--name", "secrets"});
  CHECK(unlimited.exit_code == 2);
  CHECK_THAT(unlimited.output, Contains("quota team-a does not limit secrets, but pods"));
}

TEST_CASE("kubectl quota report includes the ClusterQuotas", "[e2e][cluster][kubectl-quota]") {
  Company company;
  company.Count();
  const auto all = company.Ask({"report", "-A", "-o", "html"});
  CHECK(all.exit_code == 0);
  CHECK_THAT(all.output, Contains("<td>clusterquota/trial<td>pods<td>4<td>4<td>100%") &&
                             Contains("clusterquota/team-b"));
  const auto here = company.AskHere({"report", "-o", "html"});
  CHECK_THAT(here.output, Contains("clusterquota/team-a") && !Contains("clusterquota/team-b"));
}

TEST_CASE("kubectl quota check judges ClusterQuotas of a file as the daemon would",
          "[e2e][cluster][kubectl-quota]") {
  Company company;
  company.Count();
  Scenario& s = company.scenario();
  const std::string quotas =
      company.File("quotas.yaml", json::Write(s.api().Get(ClusterQuotas::Path())));
  const auto three = company.File("three.yaml", json::Write(DeploymentOf("web", 3)));
  // The labels of the namespace are read from the cluster.
  const std::vector<std::string> offline{"check", "-f", three, "--quota-file", quotas};
  const auto live = company.AskHere({"check", "-f", three});
  const auto judged = company.AskHere(offline);
  CHECK(judged.exit_code == 1);
  CHECK(judged.output == live.output);
  // With the labels in a file, no server is contacted.
  const std::string ns = company.File(
      "ns.yaml", R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ")" + s.ns() +
                     R"(", "labels": {"team": "b"}}})");
  std::vector<std::string> alone = offline;
  for (const std::string& more : {std::string("--quota-file"), ns, "--namespace=" + s.ns()}) {
    alone.push_back(more);
  }
  const auto other = AskPlugin("/nowhere", alone);
  CHECK(other.exit_code == 0);
  CHECK_THAT(other.output, Contains("clusterquota/team-b    pods       1        3       4") &&
                               !Contains("team-a") && Contains("would warn: exceeded cluster"));
  const auto unknown =
      AskPlugin("/nowhere", {"check", "-f", three, "--quota-file", quotas, "-n", s.ns()});
  CHECK(unknown.exit_code == 2);
  CHECK_THAT(unknown.output, Contains("the labels of namespace " + s.ns() +
                                      " say which ClusterQuotas it is under"));
  const auto nowhere = AskPlugin("/nowhere", offline);
  CHECK(nowhere.exit_code == 2);
  CHECK_THAT(nowhere.output, Contains("ClusterQuotas select namespaces by their labels: give -n"));
  const auto orphan = company.File(
      "orphan.yaml",
      json::Write(ClusterQuotas::Quota(
          "orphan",
          Json(R"({"parent": "nobody", "namespaceSelector": {}, "hard": {"pods": "2"}})"))));
  const auto noted = AskPlugin("/nowhere", {"check", "-f", three, "--quota-file", orphan});
  CHECK(noted.exit_code == 1);
  CHECK_THAT(noted.output, Contains("note: clusterquota/orphan: ParentNotFound: there is no "
                                    "ClusterQuota nobody\n") &&
                               Contains("exceeded cluster quota: orphan, requested: pods=3"));
}

TEST_CASE("kubectl quota check counts what a ClusterQuota of the files would limit",
          "[e2e][cluster][kubectl-quota]") {
  Company company;
  Scenario& s = company.scenario();
  company.Count();
  for (const char* pod : {"p0", "p1"}) s.Create("pods", Pod(pod));
  const std::string smaller = json::Write(
      ClusterQuotas::Quota("team-a", Json(R"({"parent": "company", "hard": {"pods": "4"},
                         "namespaceSelector": {"matchLabels": {"team": "a"}}})")));
  const auto files =
      company.File("files.json", smaller + "\n---\n" + json::Write(DeploymentOf("web", 3)));
  const auto no = company.AskHere({"check", "-f", files});
  INFO(no.output);
  CHECK(no.exit_code == 1);
  CHECK_THAT(no.output, Contains("clusterquota/team-a    pods       2        3       5       4    "
                                 "   no, lacks 1\n"));
}

TEST_CASE("kubectl quota check cannot tell of ClusterQuotas that the user may not list",
          "[e2e][cluster][kubectl-quota][real-only]") {
  Company company;
  company.Count();
  Scenario& s = company.scenario();
  company.AllowStranger(R"(["", "apps"])", R"(["resourcequotas", "deployments", "limitranges"])");
  const auto stranger = company.KubeconfigOfStranger();
  const auto three = company.File("three.yaml", json::Write(DeploymentOf("web", 3)));
  Eventually("the role is in effect, and the answer is not yes", [&]() -> std::string {
    const auto check = AskPlugin(stranger, {"check", "-f", three, "-n", s.ns()});
    const bool told =
        check.exit_code == 3 &&
        check.output.find("\nCannot tell: all that is known fits, but: ") != std::string::npos &&
        check.output.find("whether a ClusterQuota limits namespace " + s.ns() +
                          " cannot be seen: Error from server (Forbidden): ") != std::string::npos;
    return told ? "" : check.output;
  });
  const auto allowed = AskPlugin(stranger, {"check", "-f", three, "-n", s.ns(), "--allow-unknown"});
  CHECK(allowed.exit_code == 0);
  for (const std::vector<std::string>& asked :
       {std::vector<std::string>{"tree"}, {"who", "clusterquota/team-a", "-n", s.ns()}}) {
    const auto answer = AskPlugin(stranger, asked);
    CHECK(answer.exit_code == 2);
    CHECK_THAT(answer.output, Contains("cannot list resource \"clusterquotas\""));
  }
  // A user who may list ClusterQuotas but not namespaces learns which right is missing.
  const std::string cluster = "/apis/rbac.authorization.k8s.io/v1";
  s.api().Create(cluster + "/clusterroles", Json(R"({"metadata": {"name": "clq-viewer"}, "rules": [{
      "apiGroups": ["quota-controller-manager.io"], "resources": ["clusterquotas"],
      "verbs": ["get", "list"]}]})"));
  s.api().Create(cluster + "/clusterrolebindings", Json(R"({"metadata": {"name": "clq-viewer"},
      "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                  "name": "clq-viewer"},
      "subjects": [
        {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "stranger"}]})"));
  Eventually("the output names the missing right to list namespaces", [&]() -> std::string {
    const auto who = AskPlugin(stranger, {"who", "team-a", "-n", s.ns()});
    const bool told = who.exit_code == 2 &&
                      who.output.find(
                          "which namespaces cluster quota team-a selects cannot be "
                          "seen") != std::string::npos &&
                      who.output.find("cannot list resource \"namespaces\"") != std::string::npos;
    return told ? "" : who.output;
  });
  s.api().Delete(cluster + "/clusterrolebindings/clq-viewer");
  s.api().Delete(cluster + "/clusterroles/clq-viewer");
}

}  // namespace e2e::kubectl_quota_cluster_test
