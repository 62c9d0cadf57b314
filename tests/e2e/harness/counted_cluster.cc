#include "tests/e2e/harness/counted_cluster.h"

namespace e2e {

CountedCluster::CountedCluster(const std::string& controllers)
    : PluginScenario(ServerOptions{.quota_plugin = true}) {
  if (!HaveBuiltinController()) {
    scenario().StartDaemon();
    return;
  }
  controllers_ = StartBuiltinController(
      controllers, scenario().server().Kubeconfig(), logs_.path() + "/controllers.log",
      // If the controller counts before its cache has the last object, it counts too little. With
      // a short period it corrects that soon.
      {"--resource-quota-sync-period=2s", "--horizontal-pod-autoscaler-sync-period=2s"});
}

void CountedCluster::WaitCounted(const Quantities& used) {
  Quantities hard = used;
  for (auto& [name, limit] : hard) limit = "1Pi";
  scenario().Create("resourcequotas", Quota("counted", hard));
  scenario().WaitUsed("counted", used);
  scenario().Delete("resourcequotas", "counted");
}

void CountedCluster::WaitUsed(const std::string& quota, const Quantities& used) {
  WaitCounted(used);
  scenario().WaitUsed(quota, used);
}

void CountedCluster::MakeDeploymentWithPod(const std::string& name, const std::string& cpu) {
  const Quantities requests{{"cpu", cpu}};
  const auto deployment = scenario().Create("deployments", DeploymentOf(name, 1, requests));
  if (has_controllers()) return;
  json::Value set = DeploymentOf(name + "-1", 1, requests);
  set.Make({"kind"}) = "ReplicaSet";
  auto pod = Owned(Pod(name + "-1-x", requests),
                   scenario().Create("replicasets", Owned(std::move(set), deployment)));
  pod.Make({"metadata", "labels", "app"}) = name;
  scenario().Create("pods", pod);
}

}  // namespace e2e
