#pragma once

// A namespace whose quotas are counted: by Kubernetes' own plugin and controllers if the server has
// them, otherwise by the daemon.

#include <memory>
#include <string>

#include "tests/e2e/harness/plugin_scenario.h"

namespace e2e {

class CountedCluster : public PluginScenario {
 public:
  // Starts these controllers of kube-controller-manager, or the daemon.
  explicit CountedCluster(const std::string& controllers =
                              "resourcequota-controller,"
                              "deployment-controller,"
                              "replicaset-controller,"
                              "job-controller,"
                              "horizontal-pod-autoscaler-controller");

  // True if controllers create the pods of Deployments.
  [[nodiscard]] bool has_controllers() const { return controllers_ != nullptr; }

  // Waits until the controller counts `used` from its cache. From then on no recount lowers a quota
  // below that.
  void WaitCounted(const Quantities& used);

  // Waits until the controller counts `used` and the status of the quota says so. The status alone
  // does not tell: the plugin charges a new object at once, and a recount from an older cache takes
  // the charge back.
  void WaitUsed(const std::string& quota, const Quantities& used);

  // Creates a Deployment of one pod. On a server without controllers it also creates the ReplicaSet
  // and the pod.
  void MakeDeploymentWithPod(const std::string& name, const std::string& cpu);

 private:
  TempDir logs_;
  std::unique_ptr<Process> controllers_;
};

}  // namespace e2e
