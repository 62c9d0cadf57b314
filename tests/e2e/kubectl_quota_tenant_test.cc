// The plugin's output for a user who may read only one namespace: ClusterQuotas are read from the
// AppliedClusterQuotas that a daemon writes.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/faults.h"
#include "tests/e2e/harness/plugin_scenario.h"

namespace e2e::kubectl_quota_tenant_test {
namespace {

using Catch::Matchers::Contains;

// A company with two teams, under a daemon that enforces. The scenario's namespace belongs to
// team-a and has 4 pods. team-b is guaranteed 4 more.
class Company {
 public:
  Company() {
    a_.api().MergePatch(PathOf("namespaces", "", ns()),
                        Json(R"({"metadata": {"labels": {"team": "a"}}})"));
    quotas_.Create("company", R"({"hard": {"pods": "10"}})");
    quotas_.Create("team-a", SelectTeam("a", R"("parent": "company", "hard": {"pods": "8"})"));
    quotas_.Create("team-b", SelectTeam("b", R"("parent": "company", "hard": {"pods": "6"},
                                               "guaranteed": {"pods": "4"})"));
    for (int i = 0; i < 4; ++i) a_.scenario().Create("pods", Pod("p" + std::to_string(i)));
    Wait("company", R"({"used": {"pods": "4"}, "available": {"pods": "6"}})");
    Wait("team-a", R"({"used": {"pods": "4"}, "available": {"pods": "2"}})");
  }
  ~Company() {
    if (CurrentTier() == Tier::kSandbox) ClearFaults(a_.scenario());
    for (const char* resource : {"clusterrolebindings", "clusterroles"}) {
      (void)a_.api().Do({.verb = "DELETE", .path = PathOf(resource, "", role_)});
    }
  }
  Company(const Company&) = delete;
  Company& operator=(const Company&) = delete;

  [[nodiscard]] const std::string& ns() { return a_.scenario().ns(); }
  [[nodiscard]] Admission& admission() { return a_; }
  std::string File(const std::string& name, const json::Value& object) {
    return dir_.Write(name, json::Write(object));
  }
  // Lets Ask() ask as a user with a Role in the namespace, and with nothing else.
  void BecomeTenant() {
    if (CurrentTier() == Tier::kSandbox) {
      Inject(a_.scenario(),
             R"({"fault": "answer", "code": 403, "times": -1, "resource": "clusterquotas"})");
      return;
    }
    const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/" + ns();
    a_.api().Create(rbac + "/roles", Json(R"({"metadata": {"name": "tenant"}, "rules": [{
        "apiGroups": ["", "apps", "autoscaling", "quota-controller-manager.io"],
        "verbs": ["get", "list"],
        "resources": ["resourcequotas", "limitranges", "pods", "events", "deployments",
                      "replicasets", "horizontalpodautoscalers", "appliedclusterquotas"]}]})"));
    a_.api().Create(rbac + "/rolebindings", Json(R"({"metadata": {"name": "tenant"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "tenant"},
        "subjects": [
          {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "stranger"}]})"));
    auto fields = a_.scenario().server().Fields();
    fields.token = "e2e-stranger-token";
    kubeconfig_ = dir_.Write("tenant.kubeconfig", KubeconfigText(fields));
    Eventually("the role is in effect", [&] {
      const std::string output = Ask({"top"}).output;
      return output.find("clusterquota/company") != std::string::npos ? "" : output;
    });
  }
  // Lets the tenant also list ClusterQuotas, but not read the labels of the namespace.
  void AllowClusterQuotas() {
    if (CurrentTier() == Tier::kSandbox) {
      ClearFaults(a_.scenario());
      Inject(a_.scenario(), R"({"fault": "answer", "code": 403, "times": -1,
                                "resource": "namespaces", "verb": "get"})");
      return;
    }
    json::Value role = Json(R"({"rules": [{"apiGroups": ["quota-controller-manager.io"],
        "resources": ["clusterquotas"], "verbs": ["get", "list"]}]})");
    json::Value binding = Json(R"({
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole"},
        "subjects": [
          {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "stranger"}]})");
    role.Make({"metadata", "name"}) = role_;
    binding.Make({"metadata", "name"}) = role_;
    binding.Make({"roleRef", "name"}) = role_;
    a_.api().Create(PathOf("clusterroles"), role);
    a_.api().Create(PathOf("clusterrolebindings"), binding);
    Eventually("the cluster role is in effect", [&] {
      const std::string output = Ask({"who", "clusterquota/team-b"}).output;
      return output.find("team-b selects cannot be seen") != std::string::npos ? "" : output;
    });
  }
  ProgramResult Ask(std::vector<std::string> arguments) {
    arguments.push_back("--namespace=" + ns());
    return AskPlugin(kubeconfig_, arguments);
  }

 private:
  void Wait(const std::string& quota, const std::string& members) {
    applied_.WaitStatus(ns(), quota, Json(members));
  }

  Api api_{SharedServer().Kubeconfig()};
  AppliedQuotas applied_{api_};
  ClusterQuotas quotas_{api_};
  Admission a_{{.more_flags = {"--enforce=cluster"}, .enforce = false}};
  std::string kubeconfig_ = SharedServer().Kubeconfig();
  std::string role_ = FreshName("e2e-tenant");
  TempDir dir_;
};

std::string AgeNote(Company& company) {
  return "Warning: amounts of ClusterQuotas are from the AppliedClusterQuotas in namespace " +
         company.ns() + ", which may be some seconds old\n";
}

}  // namespace

TEST_CASE("kubectl quota check and why judge a tenant's objects by AppliedClusterQuotas",
          "[e2e][cluster][applied][kubectl-quota]") {
  Company company;
  const std::string three = company.File("three.yaml", DeploymentOf("web", 3));
  const std::string two = company.File("two.yaml", DeploymentOf("web", 2));
  company.admission().scenario().Create("deployments", DeploymentOf("web", 3));
  const std::vector<std::string> checked{"check", "-f", three, "--replace"};
  const auto full = company.Ask(checked);
  const auto full_why = company.Ask({"why", "deployment/web"});
  company.BecomeTenant();

  const auto no = company.Ask(checked);
  CHECK(no.exit_code == 1);
  CHECK(no.output == AgeNote(company) + full.output);
  const std::string refusal =
      "exceeded cluster quota: company (above team-a), requested: pods=3, used: pods=4, limited: "
      "pods=10, guaranteed to others: pods=4";
  CHECK_THAT(no.output, Contains(refusal + "\n"));
  const auto yes = company.Ask({"check", "-f", two, "--replace"});
  INFO(yes.output);
  CHECK(yes.exit_code == 0);
  const auto why = company.Ask({"why", "deployment/web"});
  CHECK(why.exit_code == 0);
  CHECK(why.output == AgeNote(company) + full_why.output);
  CHECK_THAT(why.output, Contains("4 guaranteed to others, lacks 1 for all"));
}

TEST_CASE("kubectl quota check reads AppliedClusterQuotas if a tenant may not read the labels",
          "[e2e][cluster][applied][kubectl-quota]") {
  Company company;
  const std::string three = company.File("three.yaml", DeploymentOf("web", 3));
  company.BecomeTenant();
  const auto without = company.Ask({"check", "-f", three});
  company.AllowClusterQuotas();
  const auto with = company.Ask({"check", "-f", three});
  CHECK(with.exit_code == 1);
  CHECK(with.output == without.output);
}

TEST_CASE("kubectl quota tree, top and who show a tenant the quotas above the namespace",
          "[e2e][cluster][applied][kubectl-quota]") {
  Company company;
  company.BecomeTenant();
  const auto tree = company.Ask({"tree"});
  CHECK(tree.exit_code == 0);
  CHECK(
      tree.output ==
      AgeNote(company) +
          "QUOTA       RESOURCE   USED/HARD   USED%   AVAILABLE   GUARANTEED   NAMESPACES   MODE  "
          " STATE\n"
          "company     pods       4/10        40%     6           -            -            Deny\n"
          "`- team-a   pods       4/8         50%     2           -            -            "
          "Deny\n");
  CHECK_THAT(company.Ask({"top", "--no-headers"}).output,
             Contains("clusterquota/team-a    pods   4/8    50%   4   #####.....\n"));
  const auto who = company.Ask({"who", "clusterquota/team-a", "--by", "object"});
  CHECK(who.exit_code == 0);
  CHECK_THAT(who.output, Contains(company.ns() + ": pod/p3"));
  CHECK(company.Ask({"who", "company"}).exit_code == 0);
  CHECK(company.Ask({"who", "clusterquota/team-b"}).exit_code == 2);
}

}  // namespace e2e::kubectl_quota_tenant_test
