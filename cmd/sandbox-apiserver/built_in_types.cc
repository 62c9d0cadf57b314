// The built-in table: the resources of kube-apiserver's stable groups that the tests need.

#include <algorithm>

#include "cmd/sandbox-apiserver/registry.h"
#include "pkg/base/text.h"

namespace sandbox {
namespace {

enum Flags : unsigned { kPlain = 0, kCluster = 1, kStatus = 2, kReview = 4, kAll = 8 };

struct TypeRow {
  const char* group_version;
  const char* resource;
  const char* kind;
  unsigned flags;
  std::vector<std::string> short_names = {};
};

const std::vector<TypeRow>& Rows() {
  static const auto* const rows = new std::vector<TypeRow>{
      {"v1", "configmaps", "ConfigMap", kPlain, {"cm"}},
      {"v1", "endpoints", "Endpoints", kPlain, {"ep"}},
      {"v1", "events", "Event", kPlain, {"ev"}},
      {"v1", "limitranges", "LimitRange", kPlain, {"limits"}},
      {"v1", "namespaces", "Namespace", kCluster | kStatus, {"ns"}},
      {"v1", "nodes", "Node", kCluster | kStatus, {"no"}},
      {"v1", "persistentvolumeclaims", "PersistentVolumeClaim", kStatus, {"pvc"}},
      {"v1", "persistentvolumes", "PersistentVolume", kCluster | kStatus, {"pv"}},
      {"v1", "pods", "Pod", kStatus | kAll, {"po"}},
      {"v1", "podtemplates", "PodTemplate", kPlain},
      {"v1", "replicationcontrollers", "ReplicationController", kStatus | kAll, {"rc"}},
      {"v1", "resourcequotas", "ResourceQuota", kStatus, {"quota"}},
      {"v1", "secrets", "Secret", kPlain},
      {"v1", "serviceaccounts", "ServiceAccount", kPlain, {"sa"}},
      {"v1", "services", "Service", kStatus | kAll, {"svc"}},
      {"apiregistration.k8s.io/v1", "apiservices", "APIService", kCluster | kStatus},
      {"apps/v1", "controllerrevisions", "ControllerRevision", kPlain},
      {"apps/v1", "daemonsets", "DaemonSet", kStatus | kAll, {"ds"}},
      {"apps/v1", "deployments", "Deployment", kStatus | kAll, {"deploy"}},
      {"apps/v1", "replicasets", "ReplicaSet", kStatus | kAll, {"rs"}},
      {"apps/v1", "statefulsets", "StatefulSet", kStatus | kAll, {"sts"}},
      {"events.k8s.io/v1", "events", "Event", kPlain, {"ev"}},
      {"authentication.k8s.io/v1", "tokenreviews", "TokenReview", kCluster | kReview},
      {"authorization.k8s.io/v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview",
       kCluster | kReview},
      {"authorization.k8s.io/v1", "subjectaccessreviews", "SubjectAccessReview",
       kCluster | kReview},
      {"autoscaling/v2",
       "horizontalpodautoscalers",
       "HorizontalPodAutoscaler",
       kStatus | kAll,
       {"hpa"}},
      {"batch/v1", "cronjobs", "CronJob", kStatus | kAll, {"cj"}},
      {"batch/v1", "jobs", "Job", kStatus | kAll},
      {"networking.k8s.io/v1", "ingressclasses", "IngressClass", kCluster},
      {"networking.k8s.io/v1", "ingresses", "Ingress", kStatus, {"ing"}},
      {"networking.k8s.io/v1", "networkpolicies", "NetworkPolicy", kPlain, {"netpol"}},
      {"node.k8s.io/v1", "runtimeclasses", "RuntimeClass", kCluster},
      {"policy/v1", "poddisruptionbudgets", "PodDisruptionBudget", kStatus, {"pdb"}},
      {"rbac.authorization.k8s.io/v1", "clusterrolebindings", "ClusterRoleBinding", kCluster},
      {"rbac.authorization.k8s.io/v1", "clusterroles", "ClusterRole", kCluster},
      {"rbac.authorization.k8s.io/v1", "rolebindings", "RoleBinding", kPlain},
      {"rbac.authorization.k8s.io/v1", "roles", "Role", kPlain},
      {"storage.k8s.io/v1", "storageclasses", "StorageClass", kCluster, {"sc"}},
      {"storage.k8s.io/v1", "volumeattributesclasses", "VolumeAttributesClass", kCluster, {"vac"}},
      {"admissionregistration.k8s.io/v1", "mutatingwebhookconfigurations",
       "MutatingWebhookConfiguration", kCluster},
      {"admissionregistration.k8s.io/v1", "validatingwebhookconfigurations",
       "ValidatingWebhookConfiguration", kCluster},
      {"apiextensions.k8s.io/v1",
       "customresourcedefinitions",
       "CustomResourceDefinition",
       kCluster | kStatus,
       {"crd", "crds"}},
      {"scheduling.k8s.io/v1", "priorityclasses", "PriorityClass", kCluster, {"pc"}},
      {"coordination.k8s.io/v1", "leases", "Lease", kPlain},
      {"discovery.k8s.io/v1", "endpointslices", "EndpointSlice", kPlain},
      {"resource.k8s.io/v1", "deviceclasses", "DeviceClass", kCluster},
      {"resource.k8s.io/v1", "resourceclaims", "ResourceClaim", kStatus},
      {"resource.k8s.io/v1", "resourceclaimtemplates", "ResourceClaimTemplate", kPlain},
      {"resource.k8s.io/v1", "resourceslices", "ResourceSlice", kCluster},
  };
  return *rows;
}

std::vector<std::string> Verbs(const TypeRow& row) {
  if ((row.flags & kReview) != 0) return {"create"};
  std::vector<std::string> verbs = {"create", "delete", "deletecollection", "get",
                                    "list",   "patch",  "update",           "watch"};
  // A real server does not support deletecollection here either.
  const std::string_view resource = row.resource;
  if (resource == "namespaces") verbs.erase(verbs.begin() + 2);
  return verbs;
}

ResourceType FromRow(const TypeRow& row) {
  const std::string_view group_version = row.group_version;
  const std::size_t slash = group_version.find('/');
  ResourceType type;
  if (slash != std::string_view::npos) type.group = group_version.substr(0, slash);
  type.version = slash == std::string_view::npos ? group_version : group_version.substr(slash + 1);
  type.resource = row.resource;
  type.kind = row.kind;
  type.list_kind = type.kind + "List";
  type.singular = base::ToLower(type.kind);
  type.short_names = row.short_names;
  if ((row.flags & kAll) != 0) type.categories = {"all"};
  if (type.group == "apiextensions.k8s.io" || type.group == "apiregistration.k8s.io" ||
      type.group == "admissionregistration.k8s.io") {
    type.categories = {"api-extensions"};
  }
  type.verbs = Verbs(row);
  type.namespaced = (row.flags & kCluster) == 0;
  type.status = (row.flags & kStatus) != 0;
  type.create_only = (row.flags & kReview) != 0;
  type.storage_version = type.version;
  return type;
}

}  // namespace

std::vector<ResourceType> BuiltInTypes() {
  std::vector<ResourceType> types;
  for (const TypeRow& row : Rows()) types.push_back(FromRow(row));
  return types;
}

}  // namespace sandbox
