#include "pkg/inspect/custom_kinds.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "pkg/api/object_meta.h"
#include "pkg/base/text.h"
#include "pkg/inspect/manifest.h"

namespace inspect {
namespace {

using json::Object;
using json::Value;

// Numbers of pods: `replicas`, `numberOfInstances`, `minReplicaCount`, `members`.
bool IsNumberOfPods(const std::string& name) {
  constexpr std::string_view kEnds[] = {"replicas", "instances",   "replicacount",
                                        "members",  "parallelism", "nodecount"};
  constexpr std::string_view kWords[] = {"count", "nodes", "servers", "shards", "size"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return name.ends_with(end); }) ||
         std::ranges::find(kWords, name) != std::end(kWords);
}

// Members that tell that an operator makes pods of a custom resource.
bool TellsOfPods(std::string_view name, const Value& value) {
  if (name == "template") return value.At({"spec"}) != nullptr;
  if (name == "resources") return value.At({"requests"}) != nullptr || value.At({"limits"});
  if (name == "resource") return value.At({"cpu"}) != nullptr || value.At({"memory"});
  constexpr std::string_view kNames[] = {"containers",
                                         "container",
                                         "initContainers",
                                         "podSpec",
                                         "podTemplate",
                                         "replicas",
                                         "instances",
                                         "parallelism",
                                         "minReplicaCount",
                                         "volumeClaimTemplate",
                                         "volumeClaimTemplates",
                                         "persistentVolumeClaim"};
  if (std::ranges::find(kNames, name) != std::end(kNames)) return true;
  return value.AsInt64() && IsNumberOfPods(base::ToLower(name));
}

bool MentionsPods(const Value& value) {
  if (const json::Array* list = value.AsArray()) return std::ranges::any_of(*list, MentionsPods);
  const Object* object = value.AsObject();
  return object != nullptr && std::ranges::any_of(*object, [](const auto& member) {
           return TellsOfPods(member.first, member.second) || MentionsPods(member.second);
         });
}

// Kinds that do not mention pods, and whose controllers make pods or Secrets all the same.
bool IsMaker(std::string_view group, std::string_view kind) {
  struct Maker {
    std::string_view group;
    std::string_view kind;
  };
  constexpr Maker kMakers[] = {{"argoproj.io", "Application"},
                               {"argoproj.io", "ApplicationSet"},
                               {"argoproj.io", "ArgoCD"},
                               {"argoproj.io", "EventBus"},
                               {"argoproj.io", "EventSource"},
                               {"bitnami.com", "SealedSecret"},
                               {"cert-manager.io", "Certificate"},
                               {"external-secrets.io", "ExternalSecret"},
                               {"flink.apache.org", "FlinkDeployment"},
                               {"gateway.networking.k8s.io", "Gateway"},
                               {"helm.cattle.io", "HelmChart"},
                               {"helm.toolkit.fluxcd.io", "HelmRelease"},
                               {"kustomize.toolkit.fluxcd.io", "Kustomization"},
                               {"monitoring.coreos.com", "Alertmanager"},
                               {"monitoring.coreos.com", "Prometheus"},
                               {"monitoring.coreos.com", "PrometheusAgent"},
                               {"monitoring.coreos.com", "ThanosRuler"},
                               {"operators.coreos.com", "Subscription"},
                               {"tekton.dev", "PipelineRun"},
                               {"tekton.dev", "TaskRun"}};
  return std::ranges::any_of(
      kMakers, [&](const Maker& row) { return row.group == group && row.kind == kind; });
}

}  // namespace

bool MayMakeMore(const Value& object) {
  const std::string group = GroupOf(api::ApiVersion(object));
  // What Karmada makes of its bindings is in other namespaces. VerticalPodAutoscalers resize pods.
  if (group == "work.karmada.io" || group == "autoscaling.k8s.io") return false;
  if (IsMaker(group, api::Kind(object))) return true;
  const Value* spec = object.At({"spec"});
  if (IsCustomGroup(group)) return spec != nullptr && MentionsPods(*spec);
  return object.At({"spec", "template", "spec", "containers"}) != nullptr ||
         object.At({"spec", "replicas"}) != nullptr;
}

}  // namespace inspect
