// Beside kube-controller-manager's quota controller and the built-in plugin, with an object of
// every evaluator and every scope in the namespace: both count the same, so nobody writes.
//
// QCM_E2E_QUIET_SECONDS is how long this is observed: 35 by default, which is six resyncs of either
// side. For a proof of ten minutes: QCM_E2E_QUIET_SECONDS=600.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/e2e/harness/custom_kind.h"

namespace e2e::quiet_test {
namespace {

std::chrono::seconds QuietTime() {
  const char* text = std::getenv("QCM_E2E_QUIET_SECONDS");
  return std::chrono::seconds(text == nullptr ? 35 : std::stoi(text));
}

using Used = std::map<std::string, Quantities>;  // by quota

// The objects, and the usage that each quota must show.
class Household {
 public:
  explicit Household(Scenario& s) : s_(s) {
    s_.api().Create(PathOf("customresourcedefinitions"), things_.Definition());
    s_.api().Create(PathOf("priorityclasses"), PriorityClass(high_, 1000));
    auto overhead = Json(R"({"apiVersion":"node.k8s.io/v1","kind":"RuntimeClass","handler":"x",
        "overhead":{"podFixed":{"cpu":"250m"}}})");
    overhead.Make({"metadata", "name"}) = runtime_;
    s_.api().Create(PathOf("runtimeclasses"), overhead);
  }
  ~Household() {
    for (const auto& [resource, name] :
         {std::pair<const char*, std::string>{"customresourcedefinitions", things_.Crd()},
          {"priorityclasses", high_},
          {"runtimeclasses", runtime_}}) {
      (void)s_.api().Do({.verb = "DELETE", .path = PathOf(resource, "", name)});
    }
  }
  Household(const Household&) = delete;
  Household& operator=(const Household&) = delete;

  [[nodiscard]] Used Expected() const {
    return {{"pods",
             {{"pods", "4"},
              {"count/pods", "5"},
              {"requests.cpu", "1650m"},
              {"limits.cpu", "1"},
              {"requests.memory", "64Mi"},
              {"requests.ephemeral-storage", "1Gi"},
              {"hugepages-2Mi", "100Mi"},
              {"requests.example.com/dongle", "2"}}},
            {"objects",
             {{"services", "2"},
              {"services.loadbalancers", "1"},
              {"services.nodeports", "2"},
              {"persistentvolumeclaims", "2"},
              {"requests.storage", "6Gi"},
              {"gold.storageclass.storage.k8s.io/requests.storage", "5Gi"},
              {"gpu.deviceclass.resource.k8s.io/devices", "5"},
              {"count/resourceclaims.resource.k8s.io", "1"},
              {"configmaps", "1"},
              {"secrets", "1"},
              {"replicationcontrollers", "1"},
              {"resourcequotas", "6"},
              {"count/deployments.apps", "1"},
              {things_.CountName(), "2"}}},
            {"terminating", {{"pods", "1"}}},
            {"busy", {{"pods", "3"}, {"requests.cpu", "1650m"}}},
            {"high", {{"pods", "1"}}},
            {"modified", {{"persistentvolumeclaims", "1"}}}};
  }

  // Before the quotas, which would require a request and a limit in each container.
  void CreatePods() {
    const std::string image = R"("image":"registry.invalid/none:1")";
    CreatePod("sidecar", R"({"containers":[{"name":"c",)" + image +
                             R"(,"resources":{"requests":{"cpu":"200m"}}}],"initContainers":[
        {"name":"side",)" + image +
                             R"(,"restartPolicy":"Always","resources":{"requests":{"cpu":"100m"}}},
        {"name":"setup",)" + image +
                             R"(,"resources":{"requests":{"cpu":"1"}}}]})");
    CreatePod("wrapped", R"({"runtimeClassName":")" + runtime_ + R"(","containers":[{"name":"c",)" +
                             image +
                             R"(,"resources":{"requests":{"ephemeral-storage":"1Gi"},
        "limits":{"cpu":"100m","example.com/dongle":2,"hugepages-2Mi":"100Mi"}}}]})");
    CreatePod("levelled", R"({"resources":{"requests":{"cpu":"200m","memory":"64Mi"},
        "limits":{"cpu":"650m"}},"containers":[{"name":"c",)" +
                              image + "}]}");
    CreatePod("brief", R"({"activeDeadlineSeconds":36000,"priorityClassName":")" + high_ +
                           R"(","containers":[{"name":"c",)" + image + "}]}");
    CreatePod("done", R"({"containers":[{"name":"c",)" + image +
                          R"(,"resources":{"requests":{"cpu":"4"}}}]})");
    s_.api().MergePatch(s_.Path("pods", "done", "status"), PhasePatch("Succeeded"));
  }

  void CreateQuotas() {
    const std::map<std::string, std::string> scopes{
        {"pods", "{}"},
        {"objects", "{}"},
        {"terminating", R"({"scopes":["Terminating"]})"},
        {"busy", R"({"scopes":["NotBestEffort","NotTerminating"]})"},
        {"high", R"({"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass",
            "operator":"In","values":[")" +
                     high_ + R"("]}]}})"},
        {"modified", R"({"scopeSelector":{"matchExpressions":[{"scopeName":
            "VolumeAttributesClass","operator":"Exists"}]}})"}};
    for (const auto& [name, used] : Expected()) {
      auto quota = Quota(name, {});
      quota.Make({"spec"}) = Json(scopes.at(name));
      for (const auto& [resource, amount] : used) quota.Make({"spec", "hard", resource}) = "1000Gi";
      s_.Create("resourcequotas", quota);
    }
  }

  void CreateObjects() {
    auto balanced = ClusterIpService("balanced");
    balanced.Make({"spec"}) = Json(R"({"type":"LoadBalancer",
        "ports":[{"name":"a","port":80},{"name":"b","port":81}]})");
    s_.Create("services", balanced);
    s_.Create("services", ClusterIpService("inside"));
    auto gold = Claim("gold", "5Gi");
    gold.Make({"spec", "storageClassName"}) = "gold";
    s_.Create("persistentvolumeclaims", gold);
    auto modified = Claim("modified", "1Gi");
    modified.Make({"spec", "volumeAttributesClassName"}) = "fast";
    s_.Create("persistentvolumeclaims", modified);
    auto devices = Json(R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim",
        "metadata":{"name":"devices"},"spec":{"devices":{"requests":[{"name":"r",
        "exactly":{"deviceClassName":"gpu","count":5}}]}}})");
    s_.Create("resourceclaims", devices);
    s_.Create("configmaps", ConfigMap("one"));
    s_.Create("secrets", Secret("one"));
    s_.Create("replicationcontrollers", ReplicationController("one"));
    s_.Create("deployments", Deployment("one"));
    for (const auto* name : {"one", "two"}) CreateCustom(s_, things_, name);
  }

 private:
  void CreatePod(const std::string& name, const std::string& spec) {
    json::Value pod = Pod(name);
    pod.Make({"spec"}) = Json(spec);
    s_.Create("pods", pod);
  }

  Scenario& s_;
  CustomKind things_{"things"};
  std::string high_ = FreshName("high");
  std::string runtime_ = FreshName("wrapped");
};

std::string Versions(Scenario& s) {
  std::string versions;
  const auto list = s.api().Get(s.Path("resourcequotas"));
  for (const auto& quota : *list.At({"items"})->AsArray()) {
    versions += std::string(quota.StringAt({"metadata", "name"})) + "=" +
                std::string(quota.StringAt({"metadata", "resourceVersion"})) + " ";
  }
  return versions;
}

// Returns the versions once they were unchanged for longer than a charge is held.
std::string WaitAtRest(Scenario& s) {
  std::string last;
  auto since = std::chrono::steady_clock::now();
  Eventually(
      "the quotas come to rest",
      [&]() -> std::string {
        const auto now = std::chrono::steady_clock::now();
        if (const auto versions = Versions(s); versions != last) {
          last = versions;
          since = now;
        }
        return now - since >= 17s ? "" : "still written: " + last;
      },
      60s);
  return last;
}

}  // namespace

TEST_CASE("beside the built-in plugin and controller: no one writes, with all kinds and scopes",
          "[e2e][neighbours][controller-manager][real-only][slow]") {
  Scenario s({.quota_plugin = true});
  TempDir dir;
  Household household(s);
  household.CreatePods();
  household.CreateQuotas();
  const auto controller =
      StartBuiltinController("resourcequota-controller", s.server().Kubeconfig(),
                             dir.path() + "/controller.log", {"--resource-quota-sync-period=5s"});
  s.StartDaemon("5s");
  Quantities nothing = household.Expected().at("objects");
  for (auto& [name, amount] : nothing) amount = name == "resourcequotas" ? "6" : "0";
  s.WaitUsed("objects", nothing, 60s);
  s.WaitUsed("modified", {{"persistentvolumeclaims", "0"}}, 60s);
  household.CreateObjects();
  for (const auto& [quota, used] : household.Expected()) s.WaitUsed(quota, used, 60s);

  const auto versions = WaitAtRest(s);
  const auto resyncs = s.daemon().Metric("quota_resync_total").value_or(0);
  Always(
      "no quota is written",
      [&]() -> std::string {
        const auto now = Versions(s);
        return now == versions ? "" : versions + "became " + now;
      },
      QuietTime());
  for (const auto& [quota, used] : household.Expected()) CHECK(s.Used(quota) == used);
  // Our resync period varies by up to a tenth.
  CHECK(s.daemon().Metric("quota_resync_total").value_or(0) - resyncs >=
        static_cast<double>(QuietTime().count()) / 6);

  // The other controller was awake: alone, it corrects a wrong status at its next resync.
  s.StopDaemon();
  s.api().MergePatch(s.Path("resourcequotas", "pods", "status"),
                     Json(R"({"status":{"used":{"pods":"7"}}})"));
  s.WaitUsed("pods", household.Expected().at("pods"), 60s);
}

}  // namespace e2e::quiet_test
