// Usage follows creation, change and deletion, for each built-in resource that this project counts.
#include <catch2/catch.hpp>
#include <functional>

#include "tests/e2e/harness/scenario.h"

namespace e2e {

TEST_CASE("pods are counted when they are created and deleted", "[e2e][counting]") {
  Scenario s;
  s.Create("resourcequotas", Quota("compute", {{"pods", "10"},
                                               {"requests.cpu", "2"},
                                               {"requests.memory", "4Gi"},
                                               {"limits.cpu", "4"}}));
  s.StartDaemon();
  s.WaitUsed("compute",
             {{"pods", "0"}, {"requests.cpu", "0"}, {"requests.memory", "0"}, {"limits.cpu", "0"}});

  s.Create("pods", Pod("a", {{"cpu", "100m"}, {"memory", "512Mi"}}));
  s.Create("pods", Pod("b", {{"cpu", "500m"}, {"memory", "1Gi"}}));
  s.WaitUsed("compute", {{"pods", "2"},
                         {"requests.cpu", "600m"},
                         {"requests.memory", "1536Mi"},
                         {"limits.cpu", "0"}});

  s.Delete("pods", "b");
  s.WaitUsed(
      "compute",
      {{"pods", "1"}, {"requests.cpu", "100m"}, {"requests.memory", "512Mi"}, {"limits.cpu", "0"}});
  s.Delete("pods", "a");
  s.WaitUsed("compute",
             {{"pods", "0"}, {"requests.cpu", "0"}, {"requests.memory", "0"}, {"limits.cpu", "0"}});
}

TEST_CASE("pods that existed before the daemon are counted", "[e2e][counting]") {
  Scenario s;
  for (int i = 0; i < 5; ++i) s.Create("pods", Pod("p" + std::to_string(i), {{"cpu", "300m"}}));
  s.Create("resourcequotas", Quota("compute", {{"pods", "10"}, {"cpu", "2"}}));
  s.StartDaemon();
  s.WaitUsed("compute", {{"pods", "5"}, {"cpu", "1500m"}});
}

TEST_CASE("a pod that has ended frees its usage but not its object count", "[e2e][counting]") {
  Scenario s;
  s.Create("resourcequotas",
           Quota("compute", {{"pods", "10"}, {"cpu", "2"}, {"count/pods", "10"}}));
  s.StartDaemon();
  s.Create("pods", Pod("done", {{"cpu", "1"}}));
  s.Create("pods", Pod("failed", {{"cpu", "200m"}}));
  s.Create("pods", Pod("running", {{"cpu", "50m"}}));
  s.WaitUsed("compute", {{"pods", "3"}, {"cpu", "1250m"}, {"count/pods", "3"}});

  s.api().MergePatch(s.Path("pods", "running", "status"), PhasePatch("Running"));
  s.api().MergePatch(s.Path("pods", "done", "status"), PhasePatch("Succeeded"));
  s.api().MergePatch(s.Path("pods", "failed", "status"), PhasePatch("Failed"));
  s.WaitUsed("compute", {{"pods", "1"}, {"cpu", "50m"}, {"count/pods", "3"}});
}

TEST_CASE("objects of each built-in kind are counted and released", "[e2e][counting]") {
  struct Kind {
    std::string resource;
    std::string name_in_quota;
    std::function<json::Value(const std::string&)> make;
  };
  const std::vector<Kind> kinds{
      {"secrets", "secrets", Secret},
      {"configmaps", "configmaps", ConfigMap},
      {"services", "services", ClusterIpService},
      {"persistentvolumeclaims", "persistentvolumeclaims",
       [](const std::string& name) { return Claim(name, "1Gi"); }},
      {"replicationcontrollers", "replicationcontrollers", ReplicationController},
      {"deployments", "count/deployments.apps", Deployment},
      {"secrets", "count/secrets", Secret},
  };
  Scenario s;
  Quantities hard{{"resourcequotas", "3"}};
  Quantities none{{"resourcequotas", "1"}};
  for (const auto& kind : kinds) {
    hard[kind.name_in_quota] = "20";
    none[kind.name_in_quota] = "0";
  }
  s.Create("resourcequotas", Quota("objects", hard));
  s.StartDaemon();
  s.WaitUsed("objects", none);

  for (const auto& kind : kinds) {
    INFO(kind.name_in_quota);
    s.Create(kind.resource, kind.make("one"));
    s.Create(kind.resource, kind.make("two"));
    auto two = none;
    for (const auto& other : kinds) {
      if (other.resource == kind.resource) two[other.name_in_quota] = "2";
    }
    s.WaitUsed("objects", two);
    for (const auto* name : {"one", "two"}) {
      // Claims have a finalizer that somebody must remove; nothing else here would.
      s.api().MergePatch(s.Path(kind.resource, name), Json(R"({"metadata":{"finalizers":null}})"));
      s.Delete(kind.resource, name);
    }
    s.WaitUsed("objects", none);
  }
}

TEST_CASE("two quotas of one namespace count the same objects independently", "[e2e][counting]") {
  Scenario s;
  s.Create("resourcequotas", Quota("compute", {{"cpu", "2"}, {"pods", "5"}}));
  s.Create("resourcequotas", Quota("objects", {{"pods", "50"}, {"secrets", "5"}}));
  s.StartDaemon();
  s.Create("pods", Pod("a", {{"cpu", "250m"}}));
  s.Create("secrets", Secret("s"));
  s.WaitUsed("compute", {{"cpu", "250m"}, {"pods", "1"}});
  s.WaitUsed("objects", {{"pods", "1"}, {"secrets", "1"}});
  s.Delete("pods", "a");
  s.WaitUsed("compute", {{"cpu", "0"}, {"pods", "0"}});
  s.WaitUsed("objects", {{"pods", "0"}, {"secrets", "1"}});
}

TEST_CASE("objects of another namespace are not counted", "[e2e][counting]") {
  Scenario s;
  const auto other = FreshName("e2e-other");
  s.api().Create(PathOf("namespaces"), Namespace(other));
  s.api().Create(PathOf("pods", other), Pod("theirs", {{"cpu", "1"}}));
  s.Create("resourcequotas", Quota("compute", {{"pods", "5"}}));
  s.StartDaemon();
  s.Create("pods", Pod("ours"));
  s.WaitUsed("compute", {{"pods", "1"}});
  s.api().Delete(PathOf("pods", other, "theirs"));
  s.api().Delete(PathOf("namespaces", "", other));
}

TEST_CASE("scopes and scope selectors choose the pods", "[e2e][scopes]") {
  Scenario s;
  const auto high = FreshName("high");
  const auto low = FreshName("low");
  s.api().Create(PathOf("priorityclasses"), PriorityClass(high, 1000));
  s.api().Create(PathOf("priorityclasses"), PriorityClass(low, 10));
  auto quota = Quota("high-only", {{"pods", "10"}});
  quota.Make({"spec", "scopeSelector"}) =
      Json(R"({"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":[")" +
           high + R"("]}]})");
  s.Create("resourcequotas", quota);
  auto effort = Quota("best-effort", {{"pods", "10"}});
  effort.Make({"spec", "scopes"}) = json::Array{"BestEffort"};
  s.Create("resourcequotas", effort);
  s.StartDaemon();

  s.Create("pods", PodOfClass("h1", high));
  s.Create("pods", PodOfClass("h2", high));
  s.Create("pods", PodOfClass("l1", low));
  s.Create("pods", Pod("guaranteed", {{"cpu", "1"}}));
  s.WaitUsed("high-only", {{"pods", "2"}});
  s.WaitUsed("best-effort", {{"pods", "3"}});
  s.Delete("pods", "h1");
  s.WaitUsed("high-only", {{"pods", "1"}});
  s.WaitUsed("best-effort", {{"pods", "2"}});

  s.api().MergePatch(s.Path("resourcequotas", "high-only"),
                     Json(R"({"spec":{"scopeSelector":{"matchExpressions":[
                         {"scopeName":"PriorityClass","operator":"Exists"}]}}})"));
  s.WaitUsed("high-only", {{"pods", "2"}});
  s.api().Delete(PathOf("priorityclasses", "", high));
  s.api().Delete(PathOf("priorityclasses", "", low));
}

}  // namespace e2e
