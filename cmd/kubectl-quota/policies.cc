#include "cmd/kubectl-quota/policies.h"

#include <algorithm>
#include <set>

#include "cmd/kubectl-quota/usage_names.h"
#include "pkg/api/object_meta.h"
#include "pkg/inspect/apply.h"
#include "pkg/quota/cluster/cluster_quota.h"

namespace kubectl_quota {
namespace {

using inspect::Is;
using inspect::Manifest;
using json::Value;

constexpr inspect::WorkloadKind kPriorityClass{"PriorityClass", "scheduling.k8s.io"};
constexpr inspect::WorkloadKind kRuntimeClass{"RuntimeClass", "node.k8s.io"};
constexpr inspect::WorkloadKind kStorageClass{"StorageClass", "storage.k8s.io"};
constexpr inspect::WorkloadKind kDeviceClass{"DeviceClass", "resource.k8s.io"};
constexpr inspect::WorkloadKind kMachineClass{"MachineClass", "compute.ironcore.dev"};
constexpr inspect::WorkloadKind kBucketClass{"BucketClass", "storage.ironcore.dev"};
constexpr inspect::WorkloadKind kVolumeClass{"VolumeClass", "storage.ironcore.dev"};
constexpr inspect::WorkloadKind kDefinition{"CustomResourceDefinition", "apiextensions.k8s.io"};

// Adds the members that only a server sets.
void GiveIdentity(Value& object) {
  for (const char* member : {"uid", "resourceVersion"}) {
    if (object.StringAt({"metadata", member}).empty()) object.Make({"metadata", member}) = "0";
  }
}

// Returns spec.hard after the manifest is applied.
json::Object HardAfter(const inspect::Apply& apply, const Value& manifest, const Value& stored) {
  json::Object hard;
  for (const Value* object : {&stored, &manifest}) {
    const Value* own = object->At({"spec", "hard"});
    if (own == nullptr || !own->IsObject()) continue;
    for (const auto& [name, limit] : *own->AsObject()) {
      const Value* kept = apply.After({"spec", "hard", name});
      if (kept != nullptr) hard.Set(name, *kept);
    }
  }
  return hard;
}

// Returns the manifest with the stored fields that it leaves alone, without a status.
Value SpecAfter(const Value& manifest, const Value& stored) {
  Value whole = manifest;
  whole.Make({"status"}) = json::Object();
  GiveIdentity(whole);
  if (stored.IsNull()) return whole;
  const inspect::Apply apply(manifest, stored);
  whole.Make({"spec", "hard"}) = HardAfter(apply, manifest, stored);
  const Value* spec = stored.At({"spec"});
  if (spec == nullptr || !spec->IsObject()) return whole;
  for (const auto& [field, value] : *spec->AsObject()) {
    const Value* kept = field == "hard" ? nullptr : apply.After({"spec", field});
    if (kept != nullptr) whole.Make({"spec", field}) = *kept;
  }
  return whole;
}

// In a file, what cannot be read is a mistake of the user.
base::Result<quota::Quota> WhollyRead(const Value& object, const quota::QuotaForm& form) {
  auto quota = quota::ParseQuota(object, form);
  if (!quota || quota->unreadable.why.empty()) return quota;
  return base::Error{.code = base::ErrorCode::kMalformed, .message = quota->unreadable.why};
}

}  // namespace

bool IsClusterPolicy(const Manifest& manifest) {
  return std::ranges::any_of(
      std::initializer_list<inspect::WorkloadKind>{
          kPriorityClass, kRuntimeClass, kStorageClass, kDeviceClass, kMachineClass, kBucketClass,
          kVolumeClass, kClusterQuota, kUsageDefinition, inspect::kClusterPropagation,
          inspect::kInterpreter, inspect::kInterpreterWebhook},
      [&](const inspect::WorkloadKind& kind) { return Is(manifest.object, kind); });
}

bool Defines(const std::vector<Value>& definitions, const Value& object) {
  return std::ranges::any_of(definitions, [&](const Value& definition) {
    return definition.StringAt({"spec", "names", "kind"}) == api::Kind(object) &&
           definition.StringAt({"spec", "group"}) == inspect::GroupOf(api::ApiVersion(object));
  });
}

void Replace(const std::vector<Value>& over, std::vector<Value>& objects) {
  for (const Value& object : over) {
    // Objects of a list may lack their kind.
    std::erase_if(objects, [&](const Value& other) {
      const bool alike = api::Kind(other).empty() || api::Kind(other) == api::Kind(object);
      return alike && api::Name(other) == api::Name(object);
    });
    objects.push_back(object);
  }
}

std::vector<Value> OfKind(const std::vector<Manifest>& manifests,
                          const inspect::WorkloadKind& kind) {
  std::vector<Value> objects;
  for (const Manifest& manifest : manifests) {
    if (Is(manifest.object, kind)) Replace({manifest.object}, objects);
  }
  return objects;
}

ClusterPolicies ClusterPoliciesIn(const ManifestsByNamespace& manifests) {
  ClusterPolicies policies;
  for (const auto& [ns, group] : manifests) {
    for (const auto& kind : {kDeviceClass, kMachineClass, kBucketClass}) {
      Replace(OfKind(group, kind), policies.usage_classes);
    }
    Replace(OfKind(group, kPriorityClass), policies.priority_classes);
    Replace(OfKind(group, kRuntimeClass), policies.runtime_classes);
    Replace(OfKind(group, kStorageClass), policies.storage_classes);
    Replace(OfKind(group, kClusterQuota), policies.cluster_quotas);
    Replace(OfKind(group, kDefinition), policies.definitions);
    Replace(OfKind(group, kUsageDefinition), policies.usage_definitions);
    Replace(OfKind(group, inspect::kClusterPropagation), policies.propagations);
    Replace(OfKind(group, inspect::kInterpreter), policies.interpreters);
    Replace(OfKind(group, inspect::kInterpreterWebhook), policies.interpreter_webhooks);
  }
  // A new class is the newest.
  for (Value& storage : policies.storage_classes) {
    storage.Make({"metadata", "creationTimestamp"}) = "9999-12-31T23:59:59Z";
  }
  return policies;
}

void SetClasses(const std::vector<Value>& runtimes, const std::vector<Value>& priorities,
                const std::vector<Value>& storages, inspect::Defaults& defaults) {
  defaults.overheads.clear();
  for (const Value& runtime : runtimes) inspect::AddRuntimeClass(runtime, defaults);
  defaults.priority_class = inspect::DefaultPriorityClass(priorities);
  defaults.storage_class = inspect::DefaultStorageClass(storages);
}

inspect::WorkloadKind QuotaKindOf(const quota::QuotaApi& api) {
  return {api.kind, api.resource.group};
}

base::Result<quota::Quota> QuotaOf(const Value& manifest, const Value& stored,
                                   const quota::QuotaForm& form) {
  Value whole = SpecAfter(manifest, stored);
  const bool nowhere = api::Namespace(whole).empty();
  if (nowhere) whole.Make({"metadata", "namespace"}) = "-";
  auto quota = WhollyRead(whole, form);
  if (quota && nowhere) quota->key.ns.clear();
  return quota;
}

base::Result<quota::Quota> ClusterQuotaOf(const Value& manifest, const Value& stored) {
  auto quota = WhollyRead(SpecAfter(manifest, stored), quota::ClusterQuotaApi().form);
  if (!quota) return quota;
  quota->key.ns.clear();
  // Decide() reads limits from the status.
  quota->status.hard = quota->hard;
  quota->has_status_hard = true;
  return quota;
}

inspect::Expansion BornWith(const std::string& ns, const std::vector<Manifest>& manifests) {
  inspect::Expansion born;
  for (const auto& [kind, name] :
       {std::pair("ConfigMap", "kube-root-ca.crt"), std::pair("ServiceAccount", "default")}) {
    const auto own = OfKind(manifests, {kind, ""});
    const bool given = std::ranges::any_of(
        own, [name = name](const Value& object) { return api::Name(object) == name; });
    if (given) continue;
    Value object = json::Object{{"apiVersion", "v1"}, {"kind", kind}};
    object.Make({"metadata", "namespace"}) = ns;
    object.Make({"metadata", "name"}) = name;
    born.pieces.push_back({.object = std::move(object),
                           .of = {"namespace", "", ns},
                           .role = {kind, "each new namespace"}});
  }
  return born;
}

LimitRangeOrder::LimitRangeOrder(std::vector<Value> stored, const std::vector<Manifest>& manifests)
    : now_(std::move(stored)), all_(now_) {
  Replace(OfKind(manifests, kLimitRange), all_);
}

base::Result<void> LimitRangeOrder::SetFor(const Value& manifest, inspect::Defaults& defaults) {
  if (Is(manifest, kLimitRange)) Replace({manifest}, now_);
  const bool at_once = Is(manifest, inspect::kPod) || Is(manifest, inspect::kClaim);
  defaults.container_requests = {};
  defaults.container_limits = {};
  defaults.bounds.clear();
  for (const Value& range : at_once ? now_ : all_) {
    if (auto added = inspect::AddLimitRange(range, defaults); !added) return added;
  }
  return {};
}

}  // namespace kubectl_quota
