// The unusual shapes of random manifests, and their changes.

#include <algorithm>

#include "tests/e2e/harness/api.h"
#include "tests/e2e/harness/objects.h"
#include "tests/e2e/harness/random_manifests.h"

namespace e2e {
namespace {

bool IsOf(const json::Value& manifest, const std::vector<std::string_view>& kinds) {
  return std::ranges::find(kinds, manifest.StringAt({"kind"})) != kinds.end();
}

bool IsScalable(const json::Value& manifest) {
  return IsOf(manifest, {"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"});
}

bool HasTemplate(const json::Value& manifest) {
  return IsScalable(manifest) || IsOf(manifest, {"DaemonSet"});
}

// Makes it look like the output of `kubectl get -o yaml` in another cluster.
void Export(json::Value& manifest) {
  manifest.Make({"metadata", "uid"}) = "1b2c";
  manifest.Make({"metadata", "generation"}) = 7;
  manifest.Make({"metadata", "creationTimestamp"}) = "2020-01-01T00:00:00Z";
  if (IsOf(manifest, {"Pod"})) manifest.Make({"status", "phase"}) = "Succeeded";
  if (IsOf(manifest, {"Job"})) {
    manifest.Make({"status", "succeeded"}) = 4;
    manifest.Make({"status", "conditions"}) =
        json::Array{json::Object{{"type", "Complete"}, {"status", "True"}}};
  }
  if (IsOf(manifest, {"PersistentVolumeClaim"})) {
    manifest.Make({"status", "phase"}) = "Bound";
    manifest.Make({"status", "allocatedResources", "storage"}) = "50Gi";
  }
  if (IsScalable(manifest)) {
    manifest.Make({"status", "replicas"}) = 3;
    manifest.Make({"status", "observedGeneration"}) = 7;
  }
}

}  // namespace

void RandomManifests::MakeUnusual(std::vector<json::Value>& manifests) {
  const json::Value first = manifests.front();
  if (IsScalable(first) && Chance(35)) {
    const auto at = Chance(50) ? manifests.begin() : manifests.end();
    manifests.insert(at, Autoscaler(first));
  }
  if (Chance(10)) {
    manifests.push_back(first);  // once more
    // The last one stands.
    const json::Value* replicas = first.At({"spec", "replicas"});
    if (replicas != nullptr) {
      const auto at = std::ranges::find(manifests, first);
      at->Make({"spec", "replicas"}) = Below(1 + static_cast<int>(*replicas->AsInt64()));
    }
  }
  for (json::Value& manifest : manifests) {
    if (Chance(15)) Export(manifest);
    if (IsOf(manifest, {"Pod", "Job", "ConfigMap"}) && Chance(15)) {
      manifest.Make({"metadata", "generateName"}) =
          std::string(manifest.StringAt({"metadata", "name"})) + "-";
      manifest.Make({"metadata"}).AsObject()->Erase("name");
    }
  }
}

void RandomManifests::Repaint(json::Value& pod_template) {
  json::Array& containers = *pod_template.Make({"spec", "containers"}).AsArray();
  for (json::Value& container : containers) {
    container.Make({"image"}) = "registry.invalid/none:" + std::to_string(2 + Below(9));
    if (Chance(70)) container.Make({"resources"}) = Resources();
  }
  if (Chance(15)) pod_template.Make({"spec", "runtimeClassName"}) = "quota-check-heavy";
}

void RandomManifests::ChangeOne(json::Value& manifest) {
  const auto grow = [&](const char* field) {
    const json::Value* now = manifest.At({"spec", field});
    const auto number = static_cast<int>(now == nullptr ? 1 : now->AsInt64().value_or(1));
    manifest.Make({"spec", field}) = std::max(0, number + Below(7) - 1);
  };
  if (HasTemplate(manifest) && Chance(55)) Repaint(manifest.Make({"spec", "template"}));
  if (IsScalable(manifest) && Chance(55)) grow("replicas");
  if (IsOf(manifest, {"Deployment"}) && manifest.At({"spec", "paused"}) != nullptr && Chance(30)) {
    manifest.Make({"spec", "paused"}) = false;
  }
  if (IsOf(manifest, {"Job"})) {
    if (manifest.At({"spec", "suspend"}) != nullptr) manifest.Make({"spec", "suspend"}) = false;
    if (Chance(70)) grow("parallelism");
  }
  if (IsOf(manifest, {"Service"})) {
    manifest.Make({"spec", "type"}) = Pick({"ClusterIP", "NodePort", "LoadBalancer"});
    json::Array& ports = *manifest.Make({"spec", "ports"}).AsArray();
    if (ports.size() == 1 && Chance(40)) {
      ports.emplace_back(json::Object{{"name", "b"}, {"port", 81}});
    }
    if (Chance(40)) manifest.Make({"spec", "selector", "app"}) = "m0";
  }
  if (IsOf(manifest, {"HorizontalPodAutoscaler"})) {
    manifest.Make({"spec", "minReplicas"}) = 1 + Below(7);
  }
}

void RandomManifests::Change(std::vector<json::Value>& manifests) {
  if (manifests.empty()) return;
  if (Chance(60)) {
    const std::vector<json::Value> before = manifests;
    for (int tries = 0; tries < 5 && manifests == before; ++tries) {
      ChangeOne(manifests[static_cast<std::size_t>(Below(static_cast<int>(manifests.size())))]);
    }
  } else {
    for (json::Value& manifest : manifests) ChangeOne(manifest);
    if (Chance(25)) manifests.push_back(Manifest(9));
  }
  const bool scaled = std::ranges::any_of(manifests, [](const json::Value& manifest) {
    return IsOf(manifest, {"HorizontalPodAutoscaler"});
  });
  const json::Value target = manifests.front();
  if (!scaled && IsScalable(target) && Chance(15)) manifests.push_back(Autoscaler(target));
}

}  // namespace e2e
