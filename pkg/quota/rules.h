#pragma once

// The rules by which Kubernetes counts, where its versions differ. Two that count the same object
// by different rules rewrite each other's status, so the daemon counts as the server beside it.
// Values; any thread.

#include <cstdint>

#include "pkg/api/kubernetes_version.h"

namespace quota {

struct Rules {
  // What a pod counts while its node has not yet given it, or has not yet taken back, what its spec
  // says.
  enum class Resize : std::uint8_t {
    // For each container and sidecar the largest of wanted, allocated and actual amounts, if the
    // node reports actual ones (component-helpers v0.36.3, resource/helpers.go).
    kByContainer,
    // The largest of three sums over all containers, init containers among them: of the wanted, the
    // allocated and the actual amounts (component-helpers v0.37.2).
    kByPod,
  };
  Resize resize = Resize::kByContainer;
  // Which resources of a pod without a stored QoS class make it BestEffort
  // (kubernetes v1.37.2, pkg/apis/core/v1/helper/qos): since 1.37 pod-level resources only decide
  // if they name cpu, memory or huge pages. Before, empty ones hid what the containers ask for.
  bool empty_pod_level_decides = true;
  // Requests for devices with admin access count, as the API server's plugin charges them. False:
  // they take no device from anybody (KEP-5018).
  bool admin_access_counts = false;
  bool operator==(const Rules&) const = default;
};

constexpr Rules RulesOf(const api::KubernetesVersion& version) {
  // Before 1.33 the feature InPlacePodVerticalScaling is off unless somebody enabled it, and the
  // API server then stores nothing of what a node reports.
  const bool since_137 = version >= api::KubernetesVersion{1, 37};
  return {.resize = since_137 ? Rules::Resize::kByPod : Rules::Resize::kByContainer,
          .empty_pod_level_decides = !since_137};
}

}  // namespace quota
