#pragma once

// What manifests say about the admission of the other objects in the same files: quotas,
// LimitRanges and classes. They are applied first, as Helm does, whatever their place in the files.
// Only a LimitRange behind a pod or claim comes too late for it. Single-threaded.

#include <string>
#include <vector>

#include "cmd/kubectl-quota/check_inputs.h"
#include "pkg/inspect/workload.h"
#include "pkg/inspect/workload_kinds.h"
#include "pkg/quota/quota.h"

namespace kubectl_quota {

// Returns the kind of the API's quotas, valid as long as `api`.
inspect::WorkloadKind QuotaKindOf(const quota::QuotaApi& api);
inline constexpr inspect::WorkloadKind kLimitRange{"LimitRange", ""};
inline constexpr inspect::WorkloadKind kClusterQuota{"ClusterQuota", "quota-controller-manager.io"};

// Policies that are in no namespace and concern all.
struct ClusterPolicies {
  // Classes that tell what objects use: DeviceClasses, and ironcore's of machines and buckets.
  std::vector<json::Value> usage_classes;
  std::vector<json::Value> priority_classes;
  std::vector<json::Value> runtime_classes;
  std::vector<json::Value> storage_classes;
  std::vector<json::Value> cluster_quotas;
  std::vector<json::Value> definitions;  // CustomResourceDefinitions
  std::vector<json::Value> usage_definitions;
  std::vector<json::Value> propagations;  // ClusterPropagationPolicies
  std::vector<json::Value> interpreters;  // customizations of Karmada's interpreters
  std::vector<json::Value> interpreter_webhooks;
};
// True if one of these definitions is of the object's kind.
bool Defines(const std::vector<json::Value>& definitions, const json::Value& object);
ClusterPolicies ClusterPoliciesIn(const ManifestsByNamespace& manifests);
bool IsClusterPolicy(const inspect::Manifest& manifest);

// Returns the manifests of a kind; of several with one name the last one.
std::vector<json::Value> OfKind(const std::vector<inspect::Manifest>& manifests,
                                const inspect::WorkloadKind& kind);
// Adds `over` to the objects. They replace those of the same name.
void Replace(const std::vector<json::Value>& over, std::vector<json::Value>& objects);

// Sets the defaults of these RuntimeClasses, PriorityClasses and StorageClasses, which are all that
// there will be.
void SetClasses(const std::vector<json::Value>& runtimes,
                const std::vector<json::Value>& priorities,
                const std::vector<json::Value>& storages, inspect::Defaults& defaults);

// Returns the quota of a manifest, applied over the stored one, which may be null, without its
// status. Errors: kMalformed, also if a part of it cannot be read.
base::Result<quota::Quota> QuotaOf(const json::Value& manifest, const json::Value& stored = {},
                                   const quota::QuotaForm& form = {});
base::Result<quota::Quota> ClusterQuotaOf(const json::Value& manifest,
                                          const json::Value& stored = {});

// Returns what controllers create in each new namespace, unless the manifests have it: the CA's
// ConfigMap (kube-controller-manager, root-ca-cert-publisher) and the ServiceAccount "default".
inspect::Expansion BornWith(const std::string& ns, const std::vector<inspect::Manifest>& manifests);

// The LimitRanges of a namespace while its manifests are applied one after the other.
class LimitRangeOrder {
 public:
  LimitRangeOrder(std::vector<json::Value> stored, const std::vector<inspect::Manifest>& manifests);

  // Call for each manifest in order. Sets the defaults and bounds of LimitRanges for what comes of
  // it: controllers create pods when all manifests are applied. Errors: kMalformed.
  base::Result<void> SetFor(const json::Value& manifest, inspect::Defaults& defaults);

 private:
  std::vector<json::Value> now_;
  std::vector<json::Value> all_;
};

}  // namespace kubectl_quota
