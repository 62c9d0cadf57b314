#include "pkg/protobuf/kinds.h"

#include <utility>

#include "pkg/protobuf/meta_kinds.h"

namespace protobuf {
namespace {

using enum FieldType;

// Shorthands: a line below has the same facts as a line of generated.proto (k8s.io/api v0.36.3).
constexpr Field Map(std::uint32_t number, std::string_view name) {
  return {number, name, kQuantityMap};
}
constexpr Field One(std::uint32_t number, std::string_view name, const Message& message) {
  return {number, name, kMessage, &message};
}
// A pointer upstream: present even if empty.
constexpr Field Maybe(std::uint32_t number, std::string_view name, FieldType type) {
  return {number, name, type, nullptr, false, true};
}
constexpr Field List(std::uint32_t number, std::string_view name, const Message& message) {
  return {number, name, kMessage, &message, true};
}
constexpr Field Strings(std::uint32_t number, std::string_view name) {
  return {number, name, kString, nullptr, true};
}
constexpr Field Never(std::string_view name) { return {kOfOtherVersions, name}; }

// Pods.

constexpr Field kClaimNameFields[] = {{1, "name"}, {2, "request"}};
constexpr Message kClaimName{"ResourceClaim", kClaimNameFields, true};

constexpr Field kRequirementsFields[] = {Map(1, "limits"), Map(2, "requests"),
                                         List(3, "claims", kClaimName)};
constexpr Message kRequirements{"ResourceRequirements", kRequirementsFields, true};

constexpr Field kContainerFields[] = {
    {1, "name"}, One(8, "resources", kRequirements), Maybe(24, "restartPolicy", kString)};
constexpr Message kContainer{"Container", kContainerFields, false};

constexpr Field kAffinityTermFields[] = {One(1, "labelSelector", kLabelSelector),
                                         Strings(2, "namespaces"),
                                         {3, "topologyKey"},
                                         One(4, "namespaceSelector", kLabelSelector)};
constexpr Message kAffinityTerm{"PodAffinityTerm", kAffinityTermFields, false};

constexpr Field kWeightedTermFields[] = {{1, "weight", kInteger},
                                         One(2, "podAffinityTerm", kAffinityTerm)};
constexpr Message kWeightedTerm{"WeightedPodAffinityTerm", kWeightedTermFields, false};

// The same for PodAffinity and PodAntiAffinity.
constexpr Field kPodAffinityFields[] = {
    List(1, "requiredDuringSchedulingIgnoredDuringExecution", kAffinityTerm),
    List(2, "preferredDuringSchedulingIgnoredDuringExecution", kWeightedTerm)};
constexpr Message kPodAffinity{"PodAffinity", kPodAffinityFields, false};

constexpr Field kAffinityFields[] = {One(2, "podAffinity", kPodAffinity),
                                     One(3, "podAntiAffinity", kPodAffinity)};
constexpr Message kAffinity{"Affinity", kAffinityFields, false};

constexpr Field kPodSpecFields[] = {List(2, "containers", kContainer),
                                    Maybe(5, "activeDeadlineSeconds", kInteger),
                                    {7, "nodeSelector", kStringMap},
                                    {10, "nodeName"},
                                    One(18, "affinity", kAffinity),
                                    List(20, "initContainers", kContainer),
                                    {24, "priorityClassName"},
                                    {29, "runtimeClassName"},
                                    Map(32, "overhead"),
                                    One(40, "resources", kRequirements)};
constexpr Message kPodSpec{"PodSpec", kPodSpecFields, false};

constexpr Field kPodConditionFields[] = {{1, "type"}, {2, "status"}, {5, "reason"}, {6, "message"}};
constexpr Message kPodCondition{"PodCondition", kPodConditionFields, false};

constexpr Field kContainerStatusFields[] = {
    {1, "name"}, Map(10, "allocatedResources"), One(11, "resources", kRequirements)};
constexpr Message kContainerStatus{"ContainerStatus", kContainerStatusFields, false};

constexpr Field kExtendedClaimFields[] = {{2, "resourceClaimName"}};
constexpr Message kExtendedClaim{"PodExtendedResourceClaimStatus", kExtendedClaimFields, false};

constexpr Field kPodStatusFields[] = {{1, "phase"},
                                      List(2, "conditions", kPodCondition),
                                      List(8, "containerStatuses", kContainerStatus),
                                      {9, "qosClass"},
                                      List(10, "initContainerStatuses", kContainerStatus),
                                      One(18, "extendedResourceClaimStatus", kExtendedClaim),
                                      Map(19, "allocatedResources"),
                                      One(20, "resources", kRequirements)};
constexpr Message kPodStatus{"PodStatus", kPodStatusFields, false};

constexpr Field kPodFields[] = {One(1, "metadata", kObjectMeta), One(2, "spec", kPodSpec),
                                One(3, "status", kPodStatus)};
constexpr Message kPod{"Pod", kPodFields, false};

// Services.

constexpr Field kPortFields[] = {
    {1, "name"}, {2, "protocol"}, {3, "port", kInteger}, {5, "nodePort", kInteger}};
constexpr Message kPort{"ServicePort", kPortFields, false};

constexpr Field kServiceSpecFields[] = {
    List(1, "ports", kPort), {4, "type"}, Maybe(20, "allocateLoadBalancerNodePorts", kBool)};
constexpr Message kServiceSpec{"ServiceSpec", kServiceSpecFields, false};

constexpr Field kServiceFields[] = {One(1, "metadata", kObjectMeta), One(2, "spec", kServiceSpec)};
constexpr Message kService{"Service", kServiceFields, false};

// Claims of volumes.

constexpr Field kVolumeRequirementsFields[] = {Map(1, "limits"), Map(2, "requests")};
constexpr Message kVolumeRequirements{"VolumeResourceRequirements", kVolumeRequirementsFields,
                                      true};

constexpr Field kModifyStatusFields[] = {{1, "targetVolumeAttributesClassName"}, {2, "status"}};
constexpr Message kModifyStatus{"ModifyVolumeStatus", kModifyStatusFields, true};

constexpr Field kClaimSpecFields[] = {One(2, "resources", kVolumeRequirements),
                                      Maybe(5, "storageClassName", kString),
                                      Maybe(9, "volumeAttributesClassName", kString)};
constexpr Message kClaimSpec{"PersistentVolumeClaimSpec", kClaimSpecFields, false};

constexpr Field kClaimStatusFields[] = {{1, "phase"},
                                        Map(3, "capacity"),
                                        Map(5, "allocatedResources"),
                                        Maybe(8, "currentVolumeAttributesClassName", kString),
                                        One(9, "modifyVolumeStatus", kModifyStatus)};
constexpr Message kClaimStatus{"PersistentVolumeClaimStatus", kClaimStatusFields, false};

constexpr Field kClaimFields[] = {One(1, "metadata", kObjectMeta), One(2, "spec", kClaimSpec),
                                  One(3, "status", kClaimStatus)};
constexpr Message kClaim{"PersistentVolumeClaim", kClaimFields, false};

// Claims of devices, and their classes.

constexpr Field kExactRequestFields[] = {{1, "deviceClassName"},
                                         {3, "allocationMode"},
                                         {4, "count", kInteger},
                                         Maybe(5, "adminAccess", kBool)};
constexpr Message kExactRequest{"ExactDeviceRequest", kExactRequestFields, false};

constexpr Field kSubRequestFields[] = {
    {1, "name"}, {2, "deviceClassName"}, {4, "allocationMode"}, {5, "count", kInteger}};
constexpr Message kSubRequest{"DeviceSubRequest", kSubRequestFields, false};

// Until v1beta1 the request itself had the fields of `exactly`.
constexpr Field kDeviceRequestFields[] = {{1, "name"},
                                          One(2, "exactly", kExactRequest),
                                          List(3, "firstAvailable", kSubRequest),
                                          Never("deviceClassName"),
                                          Never("allocationMode"),
                                          Never("count"),
                                          Never("adminAccess")};
constexpr Message kDeviceRequest{"DeviceRequest", kDeviceRequestFields, false};

constexpr Field kDeviceClaimFields[] = {List(1, "requests", kDeviceRequest)};
constexpr Message kDeviceClaim{"DeviceClaim", kDeviceClaimFields, false};

constexpr Field kDevicesFields[] = {One(1, "devices", kDeviceClaim)};
constexpr Message kDevices{"ResourceClaimSpec", kDevicesFields, false};

constexpr Field kResourceClaimFields[] = {One(1, "metadata", kObjectMeta),
                                          One(2, "spec", kDevices)};
constexpr Message kResourceClaim{"ResourceClaim", kResourceClaimFields, false};

constexpr Field kDeviceClassSpecFields[] = {Maybe(4, "extendedResourceName", kString)};
constexpr Message kDeviceClassSpec{"DeviceClassSpec", kDeviceClassSpecFields, false};

constexpr Field kDeviceClassFields[] = {One(1, "metadata", kObjectMeta),
                                        One(2, "spec", kDeviceClassSpec)};
constexpr Message kDeviceClass{"DeviceClass", kDeviceClassFields, false};

// Quotas.

constexpr Field kScopeRequirementFields[] = {
    {1, "scopeName"}, {2, "operator"}, Strings(3, "values")};
constexpr Message kScopeRequirement{"ScopedResourceSelectorRequirement", kScopeRequirementFields,
                                    true};

constexpr Field kScopeSelectorFields[] = {List(1, "matchExpressions", kScopeRequirement)};
constexpr Message kScopeSelector{"ScopeSelector", kScopeSelectorFields, true};

constexpr Field kQuotaSpecFields[] = {Map(1, "hard"), Strings(2, "scopes"),
                                      One(3, "scopeSelector", kScopeSelector)};
constexpr Message kQuotaSpec{"ResourceQuotaSpec", kQuotaSpecFields, true};

constexpr Field kQuotaStatusFields[] = {Map(1, "hard"), Map(2, "used")};
constexpr Message kQuotaStatus{"ResourceQuotaStatus", kQuotaStatusFields, true};

constexpr Field kQuotaFields[] = {One(1, "metadata", kObjectMeta), One(2, "spec", kQuotaSpec),
                                  One(3, "status", kQuotaStatus)};
constexpr Message kQuota{"ResourceQuota", kQuotaFields, false};

struct Kind {
  std::string_view group;
  std::string_view version;
  std::string_view resource;
  const Message& message;
};

constexpr Kind kKinds[] = {
    {"", "v1", "pods", kPod},
    {"", "v1", "services", kService},
    {"", "v1", "persistentvolumeclaims", kClaim},
    {"", "v1", "resourcequotas", kQuota},
    {"resource.k8s.io", "v1", "resourceclaims", kResourceClaim},
    {"resource.k8s.io", "v1", "deviceclasses", kDeviceClass},
};

}  // namespace

const Message* MessageOf(const api::GroupVersionResource& resource) {
  for (const Kind& kind : kKinds) {
    if (kind.group == resource.group && kind.version == resource.version &&
        kind.resource == resource.resource) {
      return &kind.message;
    }
  }
  return nullptr;
}

}  // namespace protobuf
