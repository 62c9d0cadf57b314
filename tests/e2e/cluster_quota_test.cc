// ClusterQuotas count the objects of all namespaces that they select.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/cluster_quotas.h"

namespace e2e::cluster_quota_test {

TEST_CASE("cluster: a quota counts the objects of all namespaces that it selects",
          "[e2e][cluster]") {
  Scenario s(Managed());
  ClusterQuotas quotas(s.api());
  const std::string a = FreshName("a");
  const std::string b = FreshName("b");
  TeamNamespace first(s.api(), a);
  TeamNamespace second(s.api(), a);
  first.Create("one");
  quotas.Create(a, SelectTeam(a, R"("hard":{"pods":"5"})"));
  quotas.Create(b, SelectTeam(b, R"("hard":{"pods":"5"})"));
  s.StartDaemon();
  quotas.WaitUsed(a, {{"pods", "1"}});
  quotas.WaitUsed(b, {{"pods", "0"}});
  quotas.WaitStatus(a, Json(R"({"namespaces":2,"children":0,"available":{"pods":"4"}})"));
  second.Create("two");
  second.Create("three");
  quotas.WaitUsed(a, {{"pods", "3"}});
  second.Delete("two");
  quotas.WaitUsed(a, {{"pods", "2"}});
  second.Relabel(b);
  quotas.WaitUsed(a, {{"pods", "1"}});
  quotas.WaitUsed(b, {{"pods", "1"}});
  quotas.WaitStatus(a, Json(R"({"namespaces":1,"available":{"pods":"4"}})"));
  quotas.WaitStatus(b, Json(R"({"namespaces":1,"available":{"pods":"4"}})"));
  const TeamNamespace later(s.api(), a);
  quotas.WaitStatus(a, Json(R"({"namespaces":2})"));
}

TEST_CASE("cluster: quotas of both APIs over pods cost one list and one watch", "[e2e][cluster]") {
  Scenario s(Managed());
  ClusterQuotas quotas(s.api());
  const std::string a = FreshName("a");
  TeamNamespace ns(s.api(), a);
  ns.Create("one");
  s.Create("resourcequotas", Quota("q", {{"pods", "9"}}));
  const Daemon& daemon = s.StartDaemon();
  s.WaitUsed("q", {{"pods", "0"}});
  quotas.Create(a, SelectTeam(a, R"("hard":{"pods":"5","cpu":"5"})"));
  quotas.WaitUsed(a, {{"cpu", "0"}, {"pods", "1"}});
  const auto lists = [&](const std::string& name) {
    return daemon.Metric(R"(informer_lists_total{group="",name=")" + name +
                         R"(",resource="pods",version="v1"})");
  };
  CHECK(lists("core") == 1);
  CHECK_FALSE(lists("cluster"));
  ns.Create("two");
  quotas.WaitUsed(a, {{"cpu", "0"}, {"pods", "2"}});
}

TEST_CASE("cluster: a quota without a namespace has events and metrics", "[e2e][cluster]") {
  Scenario s(Managed());
  ClusterQuotas quotas(s.api());
  const std::string a = FreshName("a");
  TeamNamespace ns(s.api(), a);
  ns.Create("one");
  quotas.Create(a, SelectTeam(a, R"("hard":{"pods":"1"})"));
  const Daemon& daemon = s.StartDaemon();
  quotas.WaitUsed(a, {{"pods", "1"}});
  // The daemon's watch shows its own write a moment later.
  Eventually("a metric has the usage", [&]() -> std::string {
    const std::string series =
        R"(quota_used{namespace="",quota=")" + a + R"(",quota_api="cluster",resource="pods"} 1)";
    return daemon.MetricsText().find(series) != std::string::npos ? "" : "not there";
  });
  s.api().MergePatch(ClusterQuotas::Path(a), HardPatch({{"pods", "0"}}));
  Eventually("an Event reports that usage exceeds the limit", [&]() -> std::string {
    return IsSaid(s.api(), a, "QuotaExceeded") ? "" : "no such event";
  });
  quotas.WaitStatus(a, Json(R"({"available":{"pods":"0"}})"));
}

TEST_CASE("cluster: a quota with a scope counts all names of its pods", "[e2e][cluster]") {
  Scenario s(Managed());
  ClusterQuotas quotas(s.api());
  const std::string a = FreshName("a");
  const TeamNamespace ns(s.api(), a);
  quotas.Create(a, SelectTeam(a, R"("scopes":["Terminating"],
      "hard":{"pods":"5","count/pods":"5","requests.rdma/hca":"9"})"));
  s.StartDaemon();
  for (const auto& [name, deadline] : {std::pair("service", 0), std::pair("job", 600)}) {
    json::Value pod = Pod(name);
    const json::Value two = json::Object{{"rdma/hca", "2"}};
    pod.Make({"spec", "containers"}).AsArray()->front().Make({"resources"}) =
        json::Object{{"requests", two}, {"limits", two}};
    if (deadline > 0) pod.Make({"spec", "activeDeadlineSeconds"}) = deadline;
    s.api().Create(ns.Pods(), pod);
  }
  quotas.WaitUsed(a, {{"pods", "1"}, {"count/pods", "1"}, {"requests.rdma/hca", "2"}});
  quotas.WaitCondition(a, "Ready", "True Counted");
}

TEST_CASE("cluster: a quota includes the usage of the quotas below it", "[e2e][cluster]") {
  Scenario s(Managed());
  ClusterQuotas quotas(s.api());
  s.StartDaemon();
  const std::string a = FreshName("a");
  const std::string company = FreshName("company");
  TeamNamespace ns(s.api(), a);
  quotas.Create(a, SelectTeam(a, R"("parent":")" + company + R"(","hard":{"pods":"5"})"));
  quotas.WaitUsed(a, {{"pods", "0"}});
  quotas.WaitCondition(a, "Ready", "False ParentNotFound: there is no ClusterQuota " + company);
  quotas.Create(company, R"({"hard":{"pods":"2"}})");
  quotas.WaitStatus(company, Json(R"({"namespaces":1,"children":1})"));
  quotas.WaitCondition(a, "Ready", "True Counted");
  quotas.WaitCondition(company, "Ready", "True Counted");
  ns.Create("one");
  quotas.WaitUsed(a, {{"pods", "1"}});
  quotas.WaitUsed(company, {{"pods", "1"}});
  // The status of the parent changes first. The child's status follows some seconds later.
  quotas.WaitStatus(a, Json(R"({"available":{"pods":"1"}})"));
}

TEST_CASE("cluster: a parent that is deleted is told on each child, in the log and in the metrics",
          "[e2e][cluster]") {
  Scenario s(Managed());
  ClusterQuotas quotas(s.api());
  const std::string a = FreshName("a");
  const std::string b = FreshName("b");
  const std::string company = FreshName("company");
  const TeamNamespace of_a(s.api(), a);
  const TeamNamespace of_b(s.api(), b);
  quotas.Create(company, R"({"hard":{"pods":"2"}})");
  for (const std::string& child : {a, b}) {
    quotas.Create(child, SelectTeam(child, R"("parent":")" + company + R"(","hard":{"pods":"5"})"));
  }
  const Daemon& daemon = s.StartDaemon();
  for (const std::string& child : {a, b}) quotas.WaitCondition(child, "Ready", "True Counted");
  const auto series = [](const std::string& quota) {
    return R"(quota_condition{condition="Ready",namespace="",quota=")" + quota +
           R"(",quota_api="cluster",reason="ParentNotFound"} 1)";
  };
  CHECK_THAT(daemon.MetricsText(), !Catch::Contains("quota_condition{"));
  s.api().Delete(ClusterQuotas::Path(company));
  for (const std::string& child : {a, b}) {
    quotas.WaitCondition(child, "Ready", "False ParentNotFound");
    Eventually("the child has an Event", [&]() -> std::string {
      return IsSaid(s.api(), child, "ParentNotFound") ? "" : "none";
    });
    CHECK_THAT(daemon.MetricsText(), Catch::Contains(series(child)));
    daemon.WaitForLog("a quota is not in force quota_api=cluster quota=" + child +
                      " reason=ParentNotFound");
  }
  s.api().Delete(ClusterQuotas::Path(b));
  Eventually("the metric of a deleted quota goes", [&]() -> std::string {
    return daemon.MetricsText().find(series(b)) == std::string::npos ? "" : "it is there";
  });
  quotas.Create(company, R"({"hard":{"pods":"2"}})");
  quotas.WaitCondition(a, "Ready", "True Counted");
  Eventually("the child has an Event about its recovery",
             [&]() -> std::string { return IsSaid(s.api(), a, "QuotaHealed") ? "" : "none"; });
  CHECK_THAT(daemon.MetricsText(), !Catch::Contains("quota_condition{"));
}

}  // namespace e2e::cluster_quota_test
