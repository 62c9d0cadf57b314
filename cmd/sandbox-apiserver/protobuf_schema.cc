#include "cmd/sandbox-apiserver/protobuf_schema.h"

#include <map>
#include <sstream>

namespace sandbox {
namespace {

// message: number name type, …   (* is a list, % a map from strings; "-" is skipped)
constexpr const char* kSchema = R"(
Namespace: 1 metadata ObjectMeta, 2 spec NamespaceSpec, 3 - skip
NamespaceSpec: 1 finalizers string*
ResourceQuota: 1 metadata ObjectMeta, 2 spec ResourceQuotaSpec, 3 status ResourceQuotaStatus
ResourceQuotaSpec: 1 hard Quantity%, 2 scopes string*, 3 scopeSelector ScopeSelector
ResourceQuotaStatus: 1 hard Quantity%, 2 used Quantity%
ScopeSelector: 1 matchExpressions ScopedResourceSelectorRequirement*
ScopedResourceSelectorRequirement: 1 scopeName string, 2 operator string, 3 values string*
ConfigMap: 1 metadata ObjectMeta, 4 immutable bool, 2 data string%, 3 binaryData bytes%
Secret: 1 metadata ObjectMeta, 5 immutable bool, 2 data bytes%, 4 stringData string%, 3 type
    string
ServiceAccount: 1 metadata ObjectMeta, 2 secrets ObjectReference*, 3 imagePullSecrets
    LocalObjectReference*, 4 automountServiceAccountToken bool
ObjectReference: 1 kind string, 2 namespace string, 3 name string, 4 uid string, 5 apiVersion
    string, 6 resourceVersion string, 7 fieldPath string
LocalObjectReference: 1 name string
Service: 1 metadata ObjectMeta, 2 spec ServiceSpec, 3 - skip
ServiceSpec: 1 ports ServicePort*, 2 selector string%, 3 clusterIP string, 18 clusterIPs string*,
    4 type string, 5 externalIPs string*, 7 sessionAffinity string, 8 loadBalancerIP string, 9
    loadBalancerSourceRanges string*, 10 externalName string, 11 externalTrafficPolicy string, 12
    healthCheckNodePort int, 13 publishNotReadyAddresses bool, 19 ipFamilies string*, 17
    ipFamilyPolicy string, 20 allocateLoadBalancerNodePorts bool, 21 loadBalancerClass string, 22
    internalTrafficPolicy string, 23 trafficDistribution string
ServicePort: 1 name string, 2 protocol string, 6 appProtocol string, 3 port int, 4 targetPort
    IntOrString, 5 nodePort int
PodTemplateSpec: 1 metadata ObjectMeta, 2 spec PodSpec
PodSpec: 20 initContainers Container*, 2 containers Container*, 3 restartPolicy string, 4
    terminationGracePeriodSeconds int, 5 activeDeadlineSeconds int, 6 dnsPolicy string, 7
    nodeSelector string%, 8 serviceAccountName string, 9 serviceAccount string, 21
    automountServiceAccountToken bool, 10 nodeName string, 11 hostNetwork bool, 12 hostPID bool,
    13 hostIPC bool, 27 shareProcessNamespace bool, 15 imagePullSecrets LocalObjectReference*, 16
    hostname string, 17 subdomain string, 19 schedulerName string, 24 priorityClassName string, 25
    priority int, 29 runtimeClassName string, 30 enableServiceLinks bool, 31 preemptionPolicy
    string, 32 overhead Quantity%, 35 setHostnameAsFQDN bool, 37 hostUsers bool, 40 resources
    ResourceRequirements, 41 hostnameOverride string
Container: 1 name string, 2 image string, 3 command string*, 4 args string*, 5 workingDir string,
    6 ports ContainerPort*, 7 env EnvVar*, 8 resources ResourceRequirements, 24 restartPolicy
    string, 13 terminationMessagePath string, 20 terminationMessagePolicy string, 14
    imagePullPolicy string, 16 stdin bool, 17 stdinOnce bool, 18 tty bool
ContainerPort: 1 name string, 2 hostPort int, 3 containerPort int, 4 protocol string, 5 hostIP
    string
EnvVar: 1 name string, 2 value string
ResourceRequirements: 1 limits Quantity%, 2 requests Quantity%
ObjectMeta: 1 name string, 2 generateName string, 3 namespace string, 4 selfLink string, 5 uid
    string, 6 resourceVersion string, 7 generation int, 8 creationTimestamp Time, 9
    deletionTimestamp Time, 10 deletionGracePeriodSeconds int, 11 labels string%, 12 annotations
    string%, 13 ownerReferences OwnerReference*, 14 finalizers string*, 17 - skip
OwnerReference: 5 apiVersion string, 1 kind string, 3 name string, 4 uid string, 6 controller
    bool, 7 blockOwnerDeletion bool
LabelSelector: 1 matchLabels string%, 2 matchExpressions LabelSelectorRequirement*
LabelSelectorRequirement: 1 key string, 2 operator string, 3 values string*
DeleteOptions: 1 gracePeriodSeconds int, 2 preconditions Preconditions, 3 orphanDependents bool, 4
    propagationPolicy string, 5 dryRun string*, 6 ignoreStoreReadErrorWithClusterBreakingPotential
    bool
Preconditions: 1 uid string, 2 resourceVersion string
Deployment: 1 metadata ObjectMeta, 2 spec DeploymentSpec, 3 - skip
DeploymentSpec: 1 replicas int, 2 selector LabelSelector, 3 template PodTemplateSpec, 4 strategy
    DeploymentStrategy, 5 minReadySeconds int, 6 revisionHistoryLimit int, 7 paused bool, 9
    progressDeadlineSeconds int
DeploymentStrategy: 1 type string
Job: 1 metadata ObjectMeta, 2 spec JobSpec, 3 - skip
JobSpec: 1 parallelism int, 2 completions int, 3 activeDeadlineSeconds int, 7 backoffLimit int, 12
    backoffLimitPerIndex int, 13 maxFailedIndexes int, 4 selector LabelSelector, 5 manualSelector
    bool, 6 template PodTemplateSpec, 8 ttlSecondsAfterFinished int, 9 completionMode string, 10
    suspend bool, 14 podReplacementPolicy string, 15 managedBy string
CronJob: 1 metadata ObjectMeta, 2 spec CronJobSpec, 3 - skip
CronJobSpec: 1 schedule string, 8 timeZone string, 2 startingDeadlineSeconds int, 3
    concurrencyPolicy string, 4 suspend bool, 5 jobTemplate JobTemplateSpec, 6
    successfulJobsHistoryLimit int, 7 failedJobsHistoryLimit int
JobTemplateSpec: 1 metadata ObjectMeta, 2 spec JobSpec
SelfSubjectAccessReview: 1 metadata ObjectMeta, 2 spec SelfSubjectAccessReviewSpec, 3 - skip
SelfSubjectAccessReviewSpec: 1 resourceAttributes ResourceAttributes, 2 nonResourceAttributes
    NonResourceAttributes
ResourceAttributes: 1 namespace string, 2 verb string, 3 group string, 4 version string, 5
    resource string, 6 subresource string, 7 name string
NonResourceAttributes: 1 path string, 2 verb string
)";

using Messages = std::map<std::string, ProtobufMessage, std::less<>>;

ProtobufField FieldOf(std::uint64_t number, std::string name, std::string type) {
  ProtobufField field{number, std::move(name), std::move(type)};
  if (field.name == "-") field.name.clear();
  if (field.type.ends_with('*')) field.shape = ProtobufField::Shape::kList;
  if (field.type.ends_with('%')) field.shape = ProtobufField::Shape::kMap;
  if (field.shape != ProtobufField::Shape::kSingle) field.type.pop_back();
  return field;
}

Messages ParseSchema() {
  Messages messages;
  ProtobufMessage* message = nullptr;
  std::istringstream words(kSchema);
  for (std::string word; words >> word;) {
    if (word.ends_with(':')) {
      word.pop_back();
      message = &messages[word];
      continue;
    }
    std::string name;
    std::string type;
    words >> name >> type;
    if (type.ends_with(',')) type.pop_back();
    message->push_back(FieldOf(std::stoull(word), std::move(name), std::move(type)));
  }
  return messages;
}

}  // namespace

const ProtobufMessage* FindProtobufMessage(std::string_view name) {
  static const Messages messages = ParseSchema();
  const auto found = messages.find(name);
  return found == messages.end() ? nullptr : &found->second;
}

}  // namespace sandbox
