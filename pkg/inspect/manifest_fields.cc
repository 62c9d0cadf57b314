// The fields of workloads and pods (k8s.io/api v0.36.3, core/v1, apps/v1 and batch/v1) that affect
// the count.

#include <map>
#include <set>

#include "pkg/api/object_meta.h"
#include "pkg/inspect/manifest.h"

namespace inspect {
namespace {

using Names = std::set<std::string, std::less<>>;

const Names kTop{"apiVersion", "kind", "metadata", "spec", "status"};
const Names kResources{"limits", "requests", "claims"};
const Names kContainer{"name",
                       "image",
                       "command",
                       "args",
                       "workingDir",
                       "ports",
                       "envFrom",
                       "env",
                       "resources",
                       "resizePolicy",
                       "restartPolicy",
                       "restartPolicyRules",
                       "volumeMounts",
                       "volumeDevices",
                       "livenessProbe",
                       "readinessProbe",
                       "startupProbe",
                       "lifecycle",
                       "terminationMessagePath",
                       "terminationMessagePolicy",
                       "imagePullPolicy",
                       "securityContext",
                       "stdin",
                       "stdinOnce",
                       "tty"};
const Names kPodSpec{"volumes",
                     "initContainers",
                     "containers",
                     "ephemeralContainers",
                     "restartPolicy",
                     "terminationGracePeriodSeconds",
                     "activeDeadlineSeconds",
                     "dnsPolicy",
                     "nodeSelector",
                     "serviceAccountName",
                     "serviceAccount",
                     "automountServiceAccountToken",
                     "nodeName",
                     "hostNetwork",
                     "hostPID",
                     "hostIPC",
                     "shareProcessNamespace",
                     "securityContext",
                     "imagePullSecrets",
                     "hostname",
                     "subdomain",
                     "affinity",
                     "schedulerName",
                     "tolerations",
                     "hostAliases",
                     "priorityClassName",
                     "priority",
                     "dnsConfig",
                     "readinessGates",
                     "runtimeClassName",
                     "enableServiceLinks",
                     "preemptionPolicy",
                     "overhead",
                     "topologySpreadConstraints",
                     "setHostnameAsFQDN",
                     "os",
                     "hostUsers",
                     "schedulingGates",
                     "resourceClaims",
                     "resources",
                     "hostnameOverride",
                     "workloadRef",
                     "schedulingGroup"};
const std::map<std::string_view, Names> kSpecs{
    {"Deployment",
     {"replicas", "selector", "template", "strategy", "minReadySeconds", "revisionHistoryLimit",
      "paused", "progressDeadlineSeconds"}},
    {"ReplicaSet", {"replicas", "minReadySeconds", "selector", "template"}},
    {"ReplicationController", {"replicas", "minReadySeconds", "selector", "template"}},
    {"StatefulSet",
     {"replicas", "selector", "template", "volumeClaimTemplates", "serviceName",
      "podManagementPolicy", "updateStrategy", "revisionHistoryLimit", "minReadySeconds",
      "persistentVolumeClaimRetentionPolicy", "ordinals"}},
    {"DaemonSet",
     {"selector", "template", "updateStrategy", "minReadySeconds", "revisionHistoryLimit"}},
    {"Job",
     {"parallelism", "completions", "activeDeadlineSeconds", "podFailurePolicy", "successPolicy",
      "backoffLimit", "backoffLimitPerIndex", "maxFailedIndexes", "selector", "manualSelector",
      "template", "ttlSecondsAfterFinished", "completionMode", "suspend", "podReplacementPolicy",
      "managedBy"}},
    {"CronJob",
     {"schedule", "timeZone", "startingDeadlineSeconds", "concurrencyPolicy", "suspend",
      "jobTemplate", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"}},
};

class FieldChecker {
 public:
  std::vector<std::string> Take() { return std::move(unknown_); }

  // Reports members of `value` that are not in `known`.
  void Check(const json::Value* value, const std::string& path, const Names& known) {
    const json::Object* object = value == nullptr ? nullptr : value->AsObject();
    if (object == nullptr) return;
    for (const auto& [name, member] : *object) {
      if (!known.contains(name)) unknown_.push_back(path.empty() ? name : path + "." + name);
    }
  }

  void CheckPodSpec(const json::Value* spec, const std::string& path) {
    if (spec == nullptr) return;
    Check(spec, path, kPodSpec);
    Check(spec->At({"resources"}), path + ".resources", kResources);
    for (const char* list : {"containers", "initContainers"}) CheckContainers(*spec, list, path);
  }

 private:
  void CheckContainers(const json::Value& spec, std::string_view list, const std::string& path) {
    std::size_t index = 0;
    for (const json::Value& container : spec.ArrayAt({list})) {
      const std::string at = path + "." + std::string(list) + "[" + std::to_string(index++) + "]";
      Check(&container, at, kContainer);
      Check(container.At({"resources"}), at + ".resources", kResources);
    }
  }

  std::vector<std::string> unknown_;
};

bool HasOurGroup(std::string_view api_version) {
  return api_version == "v1" || api_version == "apps/v1" || api_version == "batch/v1";
}

}  // namespace

std::vector<std::string> UnknownFields(const json::Value& object) {
  const std::string_view kind = api::Kind(object);
  if (!HasOurGroup(api::ApiVersion(object))) return {};
  FieldChecker checker;
  if (kind == "Pod") {
    checker.Check(&object, "", kTop);
    checker.CheckPodSpec(object.At({"spec"}), "spec");
    return checker.Take();
  }
  const auto known = kSpecs.find(kind);
  if (known == kSpecs.end()) return {};
  checker.Check(&object, "", kTop);
  checker.Check(object.At({"spec"}), "spec", known->second);
  if (kind == "CronJob") {
    checker.Check(object.At({"spec", "jobTemplate", "spec"}), "spec.jobTemplate.spec",
                  kSpecs.at("Job"));
    checker.CheckPodSpec(object.At({"spec", "jobTemplate", "spec", "template", "spec"}),
                         "spec.jobTemplate.spec.template.spec");
  } else {
    checker.CheckPodSpec(object.At({"spec", "template", "spec"}), "spec.template.spec");
  }
  return checker.Take();
}

}  // namespace inspect
