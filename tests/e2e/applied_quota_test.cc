// AppliedClusterQuotas: how users who may read only their namespace see ClusterQuotas.
#include <catch2/catch.hpp>
#include <regex>

#include "tests/e2e/harness/cluster_quotas.h"
#include "tests/e2e/harness/files.h"
#include "tests/e2e/harness/installation.h"

namespace e2e::applied_quota_test {
namespace {

using Catch::Matchers::Contains;

json::Value LabelPatch(const std::string& team) {
  return Json(R"({"metadata":{"labels":{"team":")" + team + R"("}}})");
}

// A quota of a company above the quotas of two teams. The scenario's namespace belongs to team a.
class Company {
 public:
  Company() : applied_(s_.api()), quotas_(s_.api()) {
    Relabel(a_);
    quotas_.Create(company_, R"({"hard":{"pods":"10"},"enforcement":"Warn"})");
    quotas_.Create(a_, OfTeam(a_, "5"));
    quotas_.Create(b_, OfTeam(b_, "3"));
  }
  void Start(std::vector<std::string> flags = {}) {
    s_.StartDaemon({.more_flags = std::move(flags)});
  }
  void Relabel(const std::string& team) {
    s_.api().MergePatch(PathOf("namespaces", "", s_.ns()), LabelPatch(team));
  }
  void WaitSummary(const std::string& quota, const std::string& summary) {
    applied_.WaitStatus(s_.ns(), quota, json::Object{{"summary", summary}});
  }
  [[nodiscard]] std::string Path(const std::string& quota) const {
    return AppliedQuotas::Path(s_.ns(), quota);
  }
  [[nodiscard]] double Writes() { return s_.daemon().Metric(kWrites).value_or(-1); }

  static constexpr const char* kWrites = "quota_applied_cluster_quota_writes_total";
  Scenario s_;
  AppliedQuotas applied_;
  ClusterQuotas quotas_;
  const std::string company_ = FreshName("company");
  const std::string a_ = FreshName("a");
  const std::string b_ = FreshName("b");

 private:
  [[nodiscard]] std::string OfTeam(const std::string& team, const std::string& pods) const {
    return R"({"namespaceSelector":{"matchLabels":{"team":")" + team + R"("}},"parent":")" +
           company_ + R"(","hard":{"pods":")" + pods + R"("}})";
  }
};

}  // namespace

TEST_CASE("applied: a namespace shows each ClusterQuota above it", "[e2e][cluster][applied]") {
  Company company;
  company.s_.Create("pods", Pod("one"));
  company.Start();
  company.applied_.WaitStatus(
      company.s_.ns(), company.a_,
      Json(R"({"hard":{"pods":"5"},"used":{"pods":"1"},"available":{"pods":"4"},
               "usedInNamespace":{"pods":"1"},"enforcement":"Deny","summary":"pods: 1/5",
               "parent":")" +
           company.company_ + R"("})"));
  company.applied_.WaitStatus(
      company.s_.ns(), company.company_,
      Json(R"({"hard":{"pods":"10"},"enforcement":"Warn","summary":"pods: 1/10"})"));
  CHECK_FALSE(company.s_.api().Exists(company.Path(company.b_)));
  const json::Value object = company.s_.api().Get(company.Path(company.a_));
  const json::Value quota = company.quotas_.Get(company.a_);
  REQUIRE(object.ArrayAt({"metadata", "ownerReferences"}).size() == 1);
  CHECK(object.ArrayAt({"metadata", "ownerReferences"}).front().StringAt({"uid"}) ==
        quota.StringAt({"metadata", "uid"}));
  company.s_.Create("pods", Pod("two"));
  company.WaitSummary(company.a_, "pods: 2/5");
  company.WaitSummary(company.company_, "pods: 2/10");
  const Daemon& daemon = company.s_.daemon();
  CHECK_THAT(daemon.MetricsText(), Contains("quota_applied_cluster_quotas{state=\"stored\"} 2"));
  CHECK_THAT(daemon.MetricsText(), Contains(R"(writes_total{result="failed"} 0)"));
}

TEST_CASE("applied: objects are deleted after a namespace is relabelled or a quota is deleted",
          "[e2e][cluster][applied]") {
  Company company;
  company.Start();
  company.WaitSummary(company.a_, "pods: 0/5");
  company.WaitSummary(company.company_, "pods: 0/10");
  company.Relabel(company.b_);
  company.WaitSummary(company.b_, "pods: 0/3");
  company.applied_.WaitGone(company.s_.ns(), company.a_);
  company.s_.api().MergePatch(ClusterQuotas::Path(company.b_), Json(R"({"spec":{"parent":null}})"));
  company.applied_.WaitGone(company.s_.ns(), company.company_);
  company.s_.api().Delete(ClusterQuotas::Path(company.b_));
  company.applied_.WaitGone(company.s_.ns(), company.b_);
}

TEST_CASE("applied: an edited or deleted object is restored, a foreign one is left unchanged",
          "[e2e][cluster][applied]") {
  Company company;
  Api& api = company.s_.api();
  const json::Value theirs = json::Object{{"apiVersion", "quota-controller-manager.io/v1alpha1"},
                                          {"kind", "AppliedClusterQuota"},
                                          {"metadata", json::Object{{"name", company.company_}}}};
  api.Create(AppliedQuotas::Path(company.s_.ns()), theirs);
  company.Start();
  company.WaitSummary(company.a_, "pods: 0/5");
  api.MergePatch(company.Path(company.a_), Json(R"({"status":{"summary":"much","used":{"pods":"9"}},
                          "metadata":{"annotations":{"mine":"stays"}}})"));
  company.WaitSummary(company.a_, "pods: 0/5");
  const json::Value restored = api.Get(company.Path(company.a_));
  CHECK(restored.StringAt({"status", "used", "pods"}) == "0");
  CHECK(restored.StringAt({"metadata", "annotations", "mine"}) == "stays");
  api.Delete(company.Path(company.a_));
  company.WaitSummary(company.a_, "pods: 0/5");
  const json::Value left = api.Get(company.Path(company.company_));
  CHECK(left.At({"status"}) == nullptr);
  company.s_.daemon().WaitForLog("belongs to somebody else and is ignored");
  api.Delete(company.Path(company.company_));
  company.WaitSummary(company.company_, "pods: 0/10");
}

TEST_CASE("applied: a restart writes nothing, and the flag deletes all objects",
          "[e2e][cluster][applied]") {
  Company company;
  company.s_.Create("pods", Pod("one"));
  company.Start();
  company.WaitSummary(company.a_, "pods: 1/5");
  company.WaitSummary(company.company_, "pods: 1/10");
  company.s_.StopDaemon();
  const auto version = [&] {
    const json::Value object = company.s_.api().Get(company.Path(company.a_));
    return std::string(object.StringAt({"metadata", "resourceVersion"}));
  };
  const std::string before = version();
  company.Start();
  company.s_.daemon().WaitForLog("AppliedClusterQuotas listed");
  Always(
      "nothing is written", [&]() -> std::string { return company.Writes() == 0 ? "" : "written"; },
      3s);
  CHECK(version() == before);
  company.s_.StopDaemon();
  company.Start({"--applied-cluster-quotas=false"});
  company.applied_.WaitGone(company.s_.ns(), company.a_);
  company.applied_.WaitGone(company.s_.ns(), company.company_);
}

TEST_CASE("applied: a terminating namespace causes no error", "[e2e][cluster][applied]") {
  Company company;
  Api& api = company.s_.api();
  const std::string ns = FreshName("leaving");
  json::Value object = Namespace(ns);
  object.Make({"metadata", "labels", "team"}) = company.a_;
  api.Create(PathOf("namespaces"), object);
  company.Start();
  company.applied_.WaitStatus(ns, company.a_, Json(R"({"summary":"pods: 0/5"})"));
  (void)api.Do({.verb = "DELETE", .path = PathOf("namespaces", "", ns)});
  api.Delete(AppliedQuotas::Path(ns, company.a_));  // as the namespace controller does
  company.s_.Create("pods", Pod("one"));
  company.WaitSummary(company.a_, "pods: 1/5");
  CHECK(company.s_.daemon().Log().find("cannot be written") == std::string::npos);
}

TEST_CASE("applied: with the shipped roles, a viewer of a namespace sees the quotas above it",
          "[e2e][cluster][applied][manifests][real-only]") {
  Installation installation;
  installation.Apply("cluster-enforced");
  Api& api = installation.api();
  json::Value ns = Namespace("a-prod");
  ns.Make({"metadata", "labels", "team"}) = "a";
  api.Create(PathOf("namespaces"), ns);
  api.Create(ClusterQuotas::Path(),
             ClusterQuotas::Quota("company", Json(R"({"hard":{"pods":"10"}})")));
  api.Create(ClusterQuotas::Path(),
             ClusterQuotas::Quota("team-a", Json(R"({"parent":"company","hard":{"pods":"5"},
                 "namespaceSelector":{"matchLabels":{"team":"a"}}})")));
  for (const char* name :
       {"appliedclusterquotas-view", "clusterquotas-view", "usagedefinitions-view"}) {
    const json::Value role = api.Get(PathOf("clusterroles", "", name));
    for (const char* to : {"view", "edit", "admin"}) {
      const std::string label = std::string("rbac.authorization.k8s.io/aggregate-to-") + to;
      CHECK(role.StringAt({"metadata", "labels", label}) == "true");
    }
  }
  // No controller aggregates roles here, so bind the roles that `view` would aggregate.
  installation.Kubectl({"create", "serviceaccount", "jane", "--namespace=quota-system"});
  for (const std::string& view :
       {std::string("appliedclusterquotas-view"), std::string("system:aggregate-to-view")}) {
    installation.Kubectl({"create", "rolebinding", "jane-" + view, "--namespace=a-prod",
                          "--serviceaccount=quota-system:jane", "--clusterrole=" + view});
  }
  const std::string jane = installation.KubeconfigOf("jane");
  Daemon daemon(installation.Enforcing("cluster-enforced"));
  daemon.WaitUntilReady();
  const auto as_jane = [&](std::vector<std::string> argv) {
    argv.insert(argv.end(), {"--kubeconfig=" + jane, "--namespace=a-prod"});
    return RunProgram({.argv = argv, .env = {{"LC_ALL", "C"}}}, Patience());
  };
  const auto get = [&] { return as_jane({KubectlProgram(), "get", "aclq"}).output; };
  Eventually(
      "the viewer sees both quotas",
      [&]() -> std::string {
        const std::string shown = get();
        const bool both =
            shown.find("company") != std::string::npos && shown.find("team-a") != std::string::npos;
        return both ? "" : shown;
      },
      Patience() + Stretched(15s));
  const std::string shown = get();
  INFO(shown);
  CHECK_THAT(shown, Contains("USED/HARD"));
  CHECK_THAT(shown, Contains("pods: 0/5"));
  CHECK_THAT(shown, Contains("company"));
  const std::regex row(
      "^NAME +USED/HARD +PARENT +MODE +READY +REASON +AGE\n(.*\n)*"
      "team-a +pods: 0/5 +company +Deny +True +Counted ");
  Eventually("kubectl get clq shows the quota", [&] {
    const std::string quotas = installation.Kubectl({"get", "clq"});
    return std::regex_search(quotas, row) ? std::string() : quotas;
  });
  // `kubectl delete all --all` in one namespace would delete them.
  CHECK_THAT(installation.Kubectl({"get", "all"}), !Contains("clusterquota"));
  const auto may = [&](const std::string& verb) {
    const std::string resource = "appliedclusterquotas.quota-controller-manager.io";
    return as_jane({KubectlProgram(), "auth", "can-i", verb, resource}).exit_code == 0;
  };
  CHECK(may("get"));
  CHECK_FALSE(may("create"));
  CHECK_FALSE(may("patch"));
  CHECK_FALSE(may("delete"));
  CHECK_FALSE(as_jane({KubectlProgram(), "get", "clusterquotas"}).exit_code == 0);
  const auto top = as_jane({BuiltProgram("kubectl-quota"), "top", "--no-headers"});
  CHECK_THAT(top.output, Contains("clusterquota/company   pods   0/10"));
  CHECK_THAT(top.output, Contains("clusterquota/team-a    pods   0/5"));
  CHECK(daemon.Log().find("cannot be written") == std::string::npos);
}

}  // namespace e2e::applied_quota_test
