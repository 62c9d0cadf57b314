// The fields of workloads, pods and volume claims (k8s.io/api v0.36.3, core/v1, apps/v1 and
// batch/v1) that affect the count, and their types.

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "pkg/api/object_meta.h"
#include "pkg/inspect/manifest.h"
#include "pkg/quota/quantity_field.h"

namespace inspect {
namespace {

using Names = std::set<std::string_view>;

// An object, or each object of an array.
struct Schema {
  Names names;  // of all members; empty: only the members below are checked
  std::map<std::string_view, const Schema*> members = {};
};

const Schema kResources{{"limits", "requests", "claims"}};
const Schema kContainer{{"name",
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
                         "tty"},
                        {{"resources", &kResources}}};
const Schema kClaimSpec{{"accessModes", "selector", "resources", "volumeName", "storageClassName",
                         "volumeMode", "dataSource", "dataSourceRef", "volumeAttributesClassName"},
                        {{"resources", &kResources}}};
const Schema kClaimTemplate{{"apiVersion", "kind", "metadata", "spec", "status"},
                            {{"spec", &kClaimSpec}}};
const Schema kEphemeral{{"volumeClaimTemplate"}, {{"volumeClaimTemplate", &kClaimTemplate}}};
const Schema kEmptyDir{{"medium", "sizeLimit"}};
const Schema kVolume{{}, {{"emptyDir", &kEmptyDir}, {"ephemeral", &kEphemeral}}};
const Schema kPodClaim{{"name", "resourceClaimName", "resourceClaimTemplateName"}};
const Schema kPodSpec{{"volumes",
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
                       "schedulingGroup"},
                      {{"containers", &kContainer},
                       {"initContainers", &kContainer},
                       {"resources", &kResources},
                       {"resourceClaims", &kPodClaim},
                       {"volumes", &kVolume}}};
const Schema kTemplate{{"metadata", "spec"}, {{"spec", &kPodSpec}}};
const Schema kRollingUpdate{{"maxSurge", "maxUnavailable", "partition"}};
const Schema kStrategy{{"type", "rollingUpdate"}, {{"rollingUpdate", &kRollingUpdate}}};
const Schema kOrdinals{{"start"}};
const Schema kJobSpec{{"parallelism", "completions", "activeDeadlineSeconds", "podFailurePolicy",
                       "successPolicy", "backoffLimit", "backoffLimitPerIndex", "maxFailedIndexes",
                       "selector", "manualSelector", "template", "ttlSecondsAfterFinished",
                       "completionMode", "suspend", "podReplacementPolicy", "managedBy"},
                      {{"template", &kTemplate}}};
const Schema kJobTemplate{{"metadata", "spec"}, {{"spec", &kJobSpec}}};
const Schema kDeploymentSpec{{"replicas", "selector", "template", "strategy", "minReadySeconds",
                              "revisionHistoryLimit", "paused", "progressDeadlineSeconds"},
                             {{"template", &kTemplate}, {"strategy", &kStrategy}}};
const Schema kReplicaSetSpec{{"replicas", "minReadySeconds", "selector", "template"},
                             {{"template", &kTemplate}}};
const Schema kStatefulSetSpec{
    {"replicas", "selector", "template", "volumeClaimTemplates", "serviceName",
     "podManagementPolicy", "updateStrategy", "revisionHistoryLimit", "minReadySeconds",
     "persistentVolumeClaimRetentionPolicy", "ordinals"},
    {{"template", &kTemplate},
     {"updateStrategy", &kStrategy},
     {"ordinals", &kOrdinals},
     {"volumeClaimTemplates", &kClaimTemplate}}};
const Schema kDaemonSetSpec{
    {"selector", "template", "updateStrategy", "minReadySeconds", "revisionHistoryLimit"},
    {{"template", &kTemplate}, {"updateStrategy", &kStrategy}}};
const Schema kCronJobSpec{
    {"schedule", "timeZone", "startingDeadlineSeconds", "concurrencyPolicy", "suspend",
     "jobTemplate", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"},
    {{"jobTemplate", &kJobTemplate}}};

const std::map<std::string_view, const Schema*> kSpecs{{"Deployment", &kDeploymentSpec},
                                                       {"ReplicaSet", &kReplicaSetSpec},
                                                       {"ReplicationController", &kReplicaSetSpec},
                                                       {"StatefulSet", &kStatefulSetSpec},
                                                       {"DaemonSet", &kDaemonSetSpec},
                                                       {"Job", &kJobSpec},
                                                       {"CronJob", &kCronJobSpec},
                                                       {"Pod", &kPodSpec},
                                                       {"PersistentVolumeClaim", &kClaimSpec}};

// A member of the same name has the same type in each schema. Those not listed are strings.
const std::map<std::string_view, Names> kTypes{
    {"integer",
     {"replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds",
      "parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "backoffLimitPerIndex",
      "maxFailedIndexes", "ttlSecondsAfterFinished", "startingDeadlineSeconds",
      "successfulJobsHistoryLimit", "failedJobsHistoryLimit", "terminationGracePeriodSeconds",
      "priority", "partition", "start"}},
    {"boolean",
     {"paused", "suspend", "manualSelector", "hostNetwork", "hostPID", "hostIPC", "hostUsers",
      "shareProcessNamespace", "automountServiceAccountToken", "setHostnameAsFQDN",
      "enableServiceLinks", "stdin", "stdinOnce", "tty"}},
    {"array",
     {"volumes",
      "initContainers",
      "containers",
      "ephemeralContainers",
      "volumeClaimTemplates",
      "tolerations",
      "imagePullSecrets",
      "hostAliases",
      "readinessGates",
      "topologySpreadConstraints",
      "schedulingGates",
      "resourceClaims",
      "command",
      "args",
      "ports",
      "envFrom",
      "env",
      "resizePolicy",
      "restartPolicyRules",
      "volumeMounts",
      "volumeDevices",
      "claims",
      "accessModes"}},
    {"object",
     {"metadata",
      "spec",
      "status",
      "selector",
      "template",
      "jobTemplate",
      "strategy",
      "updateStrategy",
      "rollingUpdate",
      "persistentVolumeClaimRetentionPolicy",
      "ordinals",
      "podFailurePolicy",
      "successPolicy",
      "nodeSelector",
      "securityContext",
      "affinity",
      "dnsConfig",
      "resources",
      "livenessProbe",
      "readinessProbe",
      "startupProbe",
      "lifecycle",
      "os",
      "workloadRef",
      "schedulingGroup",
      "dataSource",
      "dataSourceRef",
      "ephemeral",
      "emptyDir",
      "volumeClaimTemplate"}},
    {"quantities", {"limits", "requests", "overhead"}},
    {"quantity", {"sizeLimit"}},
    {"any", {"maxSurge", "maxUnavailable"}}};

std::string_view TypeOf(std::string_view member) {
  for (const auto& [type, names] : kTypes) {
    if (names.contains(member)) return type;
  }
  return "string";
}

bool HasType(const json::Value& value, std::string_view type) {
  if (value.IsNull() || type == "any") return true;
  return type == "integer" ? value.AsInt64().has_value() : value.TypeName() == type;
}

class FieldChecker {
 public:
  FieldFindings findings;

  void Check(const json::Value& value, const std::string& path, const Schema& schema) {
    if (!value.IsObject()) return;
    for (const auto& [name, member] : *value.AsObject()) {
      std::string at = path;
      at.append(path.empty() ? "" : ".").append(name);
      const auto inner = schema.members.find(name);
      if (schema.names.contains(name) || inner != schema.members.end()) {
        CheckType(member, at, TypeOf(name));
      } else if (!schema.names.empty()) {
        findings.unknown.push_back(at);
      }
      if (inner != schema.members.end()) CheckInner(member, at, *inner->second);
    }
  }

 private:
  void CheckInner(const json::Value& value, const std::string& path, const Schema& schema) {
    Check(value, path, schema);
    if (!value.IsArray()) return;
    std::size_t index = 0;
    for (const json::Value& element : *value.AsArray()) {
      const std::string at = path + "[" + std::to_string(index++) + "]";
      CheckType(element, at, "object");
      Check(element, at, schema);
    }
  }

  void CheckType(const json::Value& value, const std::string& path, std::string_view type) {
    if (type == "quantity") return CheckQuantity(value, path);
    if (type == "quantities") return CheckQuantities(value, path);
    if (HasType(value, type)) return;
    findings.mistyped.push_back(path + " must be of type " + std::string(type) + ", not " +
                                std::string(value.TypeName()));
  }

  void CheckQuantity(const json::Value& value, const std::string& path) {
    const auto quantity = quota::QuantityFrom(value, path);
    if (!quantity) findings.mistyped.push_back(quantity.error().message);
  }

  void CheckQuantities(const json::Value& value, const std::string& path) {
    if (!value.IsObject()) return CheckType(value, path, "object");
    for (const auto& [name, amount] : *value.AsObject()) {
      CheckQuantity(amount, std::string(path).append("[").append(name).append("]"));
    }
  }
};

}  // namespace

FieldFindings CheckFields(const json::Value& object) {
  FieldChecker checker;
  const std::string_view version = api::ApiVersion(object);
  const auto spec = kSpecs.find(api::Kind(object));
  const bool known = version == "v1" || version == "apps/v1" || version == "batch/v1";
  if (known && spec != kSpecs.end()) {
    const Schema top{{"apiVersion", "kind", "metadata", "spec", "status"},
                     {{"spec", spec->second}}};
    checker.Check(object, "", top);
  }
  std::ranges::move(MistypedTexts(object), std::back_inserter(checker.findings.mistyped));
  return std::move(checker.findings);
}

}  // namespace inspect
