// Compares what `kubectl quota check` tells of changed workloads with what the real kube-apiserver,
// with its own quota plugin, and kube-controller-manager then create. There is no kubelet, so a
// rollout stands still where it needs a ready pod: at its largest usage, if maxSurge is 100 %.
#include <catch2/catch.hpp>

#include "tests/e2e/harness/counted_cluster.h"

namespace e2e::kubectl_quota_rollouts_test {
namespace {

using Catch::Matchers::Contains;

constexpr const char* kControllers =
    "resourcequota-controller,deployment-controller,replicaset-controller,statefulset-controller,"
    "daemonset-controller,endpoints-controller,endpointslice-controller";

class Rollouts : public CountedCluster {
 public:
  Rollouts() : CountedCluster(kControllers) {}

  // A workload whose pods have this image.
  static json::Value Workload(const std::string& kind, const std::string& image,
                              const std::string& more) {
    return Json(
        R"({"apiVersion": "apps/v1", "kind": ")" + kind +
        R"(", "metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": {"app": ")" + kind +
        R"("}}, )" + more + R"("template": {"metadata": {"labels": {"app": ")" + kind +
        R"("}}, "spec": {"containers": [{"name": "c", "image": ")" + image + R"("}]}}}})");
  }
  void Quota(const std::string& hard) {
    scenario().Create("resourcequotas",
                      Json(R"({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name":
        "q"}, "spec": {"hard": )" +
                           hard + "}}"));
  }
  void Apply(const std::string& resource, const json::Value& workload) {
    json::Value patch;
    patch.Make({"spec", "template"}) = *workload.At({"spec", "template"});
    scenario().api().MergePatch(scenario().Path(resource, "web"), patch);
  }
  ProgramResult Check(const json::Value& workload) {
    return AskHere({"check", "-f", File("web.json", json::Write(workload))});
  }
};

}  // namespace

TEST_CASE("kubectl quota check counts the pods that a rollout replaces as they are stored",
          "[e2e][kubectl-quota][controller-manager][real-only]") {
  Rollouts plugin;
  Scenario& s = plugin.scenario();
  const std::string ranges = "/api/v1/namespaces/" + s.ns() + "/limitranges";
  const auto range = [](const char* cpu) {
    return Json(std::string(R"({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name":
        "l"}, "spec": {"limits": [{"type": "Container", "default": {"cpu": "2"}, "defaultRequest":
        {"cpu": ")") +
                cpu + R"("}}]}})");
  };
  s.api().Create(ranges, range("100m"));
  struct Row {
    const char* strategy;
    const char* little;  // a limit that is 100m too low
    const char* enough;
    const char* told;
  };
  const Row row =
      GENERATE(Row{R"({"rollingUpdate": {"maxSurge": "100%"}})", "900m", "1",
                   "q       requests.cpu   200m     800m    1       900m    no, lacks 100m\n"},
               Row{R"({"type": "Recreate"})", "700m", "800m",
                   "q       requests.cpu   200m     600m    800m    700m    no, lacks 100m\n"});
  plugin.Quota("{\"requests.cpu\": \"" + std::string(row.little) + "\"}");
  plugin.WaitUsed("q", {{"requests.cpu", "0"}});
  const auto web = [&](const std::string& image) {
    return Rollouts::Workload("Deployment", image,
                              R"("replicas": 2, "strategy": )" + std::string(row.strategy) + ", ");
  };
  s.Create("deployments", web("i:1"));
  plugin.WaitUsed("q", {{"requests.cpu", "200m"}});
  s.api().MergePatch(ranges + "/l", range("400m"));
  const auto no = plugin.Check(web("i:2"));
  CHECK(no.exit_code == 1);
  CHECK_THAT(no.output, Contains(row.told));
  s.api().MergePatch(s.Path("resourcequotas", "q"), HardPatch({{"requests.cpu", row.enough}}));
  Eventually("the new limit is counted", [&]() -> std::string {
    const auto yes = plugin.Check(web("i:2"));
    return yes.exit_code == 0 ? "" : yes.output;
  });
  plugin.Apply("deployments", web("i:2"));
  plugin.WaitUsed("q", {{"requests.cpu", row.enough}});
  // All new pods are there, so it needs no more.
  Eventually("the rollout needs nothing", [&]() -> std::string {
    const auto none = plugin.Check(web("i:2"));
    const bool fits = none.exit_code == 0 && none.output == "Yes: no quota limits any of it.\n";
    return fits ? "" : none.output;
  });
}

TEST_CASE("kubectl quota check leaves pods below the partition of a StatefulSet alone",
          "[e2e][kubectl-quota][controller-manager][real-only]") {
  Rollouts plugin;
  Scenario& s = plugin.scenario();
  plugin.Quota(R"({"requests.cpu": "650m"})");
  plugin.WaitUsed("q", {{"requests.cpu", "0"}});
  const auto web = [](const std::string& cpu, int partition) {
    json::Value set = Rollouts::Workload(
        "StatefulSet", "i:1",
        R"("replicas": 4, "podManagementPolicy": "Parallel", "updateStrategy": {"rollingUpdate": )"
        R"({"partition": )" +
            std::to_string(partition) + "}}, ");
    json::Value container = json::Object{{"name", "c"}, {"image", "i:1"}};
    container.Make({"resources", "requests", "cpu"}) = cpu;
    set.Make({"spec", "template", "spec", "containers"}) = json::Array{container};
    return set;
  };
  s.Create("statefulsets", web("100m", 3));
  plugin.WaitUsed("q", {{"requests.cpu", "400m"}});
  CHECK(plugin.Check(web("300m", 4)).output == "Yes: no quota limits any of it.\n");
  const auto two = plugin.Check(web("300m", 2));
  CHECK(two.exit_code == 1);
  CHECK_THAT(two.output, Contains("   400m     400m    800m    650m    no, lacks 150m\n"));
  const auto one = plugin.Check(web("300m", 3));
  CHECK(one.exit_code == 0);
  CHECK_THAT(one.output, Contains("   400m     200m    600m    650m    yes\n"));
  plugin.Apply("statefulsets", web("300m", 3));
  plugin.WaitUsed("q", {{"requests.cpu", "600m"}});
  Eventually("the rollout needs nothing", [&]() -> std::string {
    const auto none = plugin.Check(web("300m", 3));
    return none.output == "Yes: no quota limits any of it.\n" ? "" : none.output;
  });
}

TEST_CASE("kubectl quota check counts revisions as the controllers keep them",
          "[e2e][kubectl-quota][controller-manager][real-only]") {
  Rollouts plugin;
  Scenario& s = plugin.scenario();
  struct Row {
    const char* kind;
    const char* resource;
    const char* name;
    const char* more;
  };
  const Row row = GENERATE(
      Row{"Deployment", "deployments", "count/replicasets.apps", R"("replicas": 1, )"},
      Row{"StatefulSet", "statefulsets", "count/controllerrevisions.apps", R"("replicas": 1, )"},
      Row{"StatefulSet", "statefulsets", "count/controllerrevisions.apps",
          R"("replicas": 1, "updateStrategy": {"type": "OnDelete"}, )"},
      Row{"DaemonSet", "daemonsets", "count/controllerrevisions.apps", ""},
      Row{"DaemonSet", "daemonsets", "count/controllerrevisions.apps",
          R"("updateStrategy": {"type": "OnDelete"}, )"});
  INFO(row.kind << " " << row.more);
  const auto web = [&](const std::string& image) {
    return Rollouts::Workload(row.kind, image, row.more);
  };
  plugin.Quota("{\"" + std::string(row.name) + R"(": "2"})");
  plugin.WaitUsed("q", {{row.name, "0"}});
  s.Create(row.resource, web("i:1"));
  plugin.WaitUsed("q", {{row.name, "1"}});
  const auto second = plugin.Check(web("i:2"));
  CHECK(second.exit_code == 0);
  CHECK_THAT(second.output, Contains("   1        1       2       2       yes\n"));
  plugin.Apply(row.resource, web("i:2"));
  plugin.WaitUsed("q", {{row.name, "2"}});
  const auto third = plugin.Check(web("i:3"));
  CHECK(third.exit_code == 1);
  CHECK_THAT(third.output, Contains("   2        1       3       2       no, lacks 1\n"));
  // The first template has its revision already.
  const auto back = plugin.Check(web("i:1"));
  INFO(back.output);
  CHECK(back.exit_code == 0);
  plugin.Apply(row.resource, web("i:1"));
  Eventually("the controller has seen the return", [&]() -> std::string {
    const json::Value now = s.api().Get(s.Path(row.resource, "web"));
    const bool seen = now.At({"status", "observedGeneration"})->AsInt64() ==
                      now.At({"metadata", "generation"})->AsInt64();
    return seen ? "" : json::Write(now);
  });
  plugin.WaitUsed("q", {{row.name, "2"}});
}

TEST_CASE("kubectl quota check counts what controllers make for a Service",
          "[e2e][kubectl-quota][controller-manager][real-only]") {
  Rollouts plugin;
  Scenario& s = plugin.scenario();
  const std::string slices = "count/endpointslices.discovery.k8s.io";
  plugin.Quota(R"({"count/endpoints": "1", ")" + slices + R"(": "1", "services": "2"})");
  plugin.WaitUsed("q", {{"count/endpoints", "0"}, {slices, "0"}, {"services", "0"}});
  json::Value service = Json(R"({"apiVersion": "v1", "kind": "Service", "metadata": {"name":
      "web"}, "spec": {"selector": {"a": "b"}, "ports": [{"port": 80}]}})");
  const auto yes = plugin.Check(service);
  INFO(yes.output);
  CHECK(yes.exit_code == 0);
  s.Create("services", service);
  plugin.WaitUsed("q", {{"count/endpoints", "1"}, {slices, "1"}, {"services", "1"}});
  CHECK(plugin.Check(service).exit_code == 0);
  service.Make({"metadata", "name"}) = "more";
  const auto no = plugin.Check(service);
  CHECK(no.exit_code == 1);
  CHECK_THAT(no.output, Contains("No: 2 of 3 limits would be exceeded.\n"));
}

TEST_CASE("kubectl quota check counts the slices that mirror Endpoints",
          "[e2e][kubectl-quota][controller-manager][real-only]") {
  if (!HaveBuiltinController()) return;
  CountedCluster plugin("resourcequota-controller,endpointslice-mirroring-controller");
  Scenario& s = plugin.scenario();
  const std::string slices = "count/endpointslices.discovery.k8s.io";
  s.Create("resourcequotas", e2e::Quota("q", {{slices, "3"}}));
  plugin.WaitUsed("q", {{slices, "0"}});
  const json::Value service = Json(R"({"apiVersion": "v1", "kind": "Service", "metadata": {"name":
      "web"}, "spec": {"ports": [{"port": 80}]}})");
  const json::Value endpoints = Json(R"({"apiVersion": "v1", "kind": "Endpoints", "metadata":
      {"name": "web"}, "subsets": [
      {"addresses": [{"ip": "10.1.0.1"}, {"ip": "fd00::1"}], "ports": [{"port": 80}]},
      {"notReadyAddresses": [{"ip": "10.1.0.2"}], "ports": [{"port": 81}]}]})");
  const auto file = plugin.File("web.json", json::Write(service) + "\n" + json::Write(endpoints));
  CHECK_THAT(plugin.AskHere({"check", "-f", file}).output, Contains("0        3       3       3 "));
  s.Create("services", service);
  CHECK_THAT(plugin.AskHere({"check", "-f", file}).output, Contains("0        3       3       3 "));
  s.api().Create("/api/v1/namespaces/" + s.ns() + "/endpoints", endpoints);
  plugin.WaitUsed("q", {{slices, "3"}});
  const auto none = plugin.AskHere({"check", "-f", file});
  CHECK(none.output == "Yes: no quota limits any of it.\n");
}

TEST_CASE("kubectl quota why names everything that the missing pods need",
          "[e2e][kubectl-quota][controller-manager][real-only]") {
  Rollouts plugin;
  Scenario& s = plugin.scenario();
  plugin.Quota(R"({"pods": "2", "requests.memory": "1Gi", "limits.memory": "2Gi"})");
  plugin.WaitUsed("q", {{"pods", "0"}, {"requests.memory", "0"}, {"limits.memory", "0"}});
  json::Value set = Rollouts::Workload("StatefulSet", "i",
                                       R"("replicas": 3, "podManagementPolicy": "Parallel", )");
  json::Array& containers = *set.Make({"spec", "template", "spec", "containers"}).AsArray();
  containers.front().Make({"resources", "requests", "memory"}) = "1Gi";
  s.Create("statefulsets", set);
  Eventually("it is told", [&]() -> std::string {
    const std::string told = plugin.AskHere({"why", "sts/web"}).output;
    const bool all = told.find(
                         "room: specify limits.memory for: c (as little as its request), and "
                         "raise pods of quota q to 3 and requests.memory of quota q to 3Gi "
                         "and limits.memory of quota q to 3Gi\n") != std::string::npos;
    return all ? "" : told;
  });
  s.api().MergePatch(
      s.Path("resourcequotas", "q"),
      HardPatch({{"pods", "3"}, {"requests.memory", "3Gi"}, {"limits.memory", "3Gi"}}));
  Eventually("the new limits are enforced", [&]() -> std::string {
    const json::Value quota = s.api().Get(s.Path("resourcequotas", "q"));
    return *quota.At({"status", "hard"}) == *quota.At({"spec", "hard"}) ? "" : json::Write(quota);
  });
  containers.front().Make({"resources", "limits", "memory"}) = "1Gi";
  plugin.Apply("statefulsets", set);
  plugin.WaitUsed("q", {{"pods", "3"}, {"requests.memory", "3Gi"}, {"limits.memory", "3Gi"}});
}

}  // namespace e2e::kubectl_quota_rollouts_test
