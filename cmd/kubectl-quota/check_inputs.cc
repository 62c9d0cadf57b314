#include "cmd/kubectl-quota/check_inputs.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "cmd/kubectl-quota/manifest_files.h"
#include "pkg/api/object_meta.h"
#include "pkg/base/text.h"
#include "pkg/inspect/helm.h"
#include "pkg/inspect/owners.h"
#include "pkg/inspect/workload_kinds.h"

namespace kubectl_quota {
namespace {

using inspect::Manifest;

constexpr std::pair<std::string_view, std::string_view> kClusterScoped[] = {
    {"", "Namespace"},
    {"", "Node"},
    {"", "PersistentVolume"},
    {"admissionregistration.k8s.io", "MutatingAdmissionPolicy"},
    {"admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"},
    {"admissionregistration.k8s.io", "MutatingWebhookConfiguration"},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicy"},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"},
    {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration"},
    {"apiextensions.k8s.io", "CustomResourceDefinition"},
    {"apiregistration.k8s.io", "APIService"},
    {"certificates.k8s.io", "CertificateSigningRequest"},
    {"certificates.k8s.io", "ClusterTrustBundle"},
    {"cluster.karmada.io", "Cluster"},
    {"compute.ironcore.dev", "MachineClass"},
    {"compute.ironcore.dev", "MachinePool"},
    {"config.karmada.io", "ResourceInterpreterCustomization"},
    {"config.karmada.io", "ResourceInterpreterWebhookConfiguration"},
    {"flowcontrol.apiserver.k8s.io", "FlowSchema"},
    {"flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"},
    {"networking.k8s.io", "IPAddress"},
    {"networking.k8s.io", "IngressClass"},
    {"networking.k8s.io", "ServiceCIDR"},
    {"node.k8s.io", "RuntimeClass"},
    {"policy", "PodSecurityPolicy"},
    {"policy.karmada.io", "ClusterOverridePolicy"},
    {"policy.karmada.io", "ClusterPropagationPolicy"},
    {"quota-controller-manager.io", "ClusterQuota"},
    {"quota-controller-manager.io", "UsageDefinition"},
    {"rbac.authorization.k8s.io", "ClusterRole"},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding"},
    {"resource.k8s.io", "DeviceClass"},
    {"resource.k8s.io", "ResourceSlice"},
    {"scheduling.k8s.io", "PriorityClass"},
    {"storage.ironcore.dev", "BucketClass"},
    {"storage.ironcore.dev", "BucketPool"},
    {"storage.ironcore.dev", "VolumeClass"},
    {"storage.ironcore.dev", "VolumePool"},
    {"storage.k8s.io", "CSIDriver"},
    {"storage.k8s.io", "CSINode"},
    {"storage.k8s.io", "StorageClass"},
    {"storage.k8s.io", "VolumeAttachment"},
    {"storage.k8s.io", "VolumeAttributesClass"},
    {"work.karmada.io", "ClusterResourceBinding"}};

// With and without validation, the server refuses values of a wrong type.
base::Result<void> CheckFields(const Manifest& manifest, bool validate) {
  const std::string name = inspect::NameOf(manifest.object).ToString() + ": ";
  const inspect::FieldFindings findings = inspect::CheckFields(manifest.object);
  const std::string mistyped = base::Join(findings.mistyped, ", ");
  if (!mistyped.empty()) return WrongInput(manifest.where + ": " + name + mistyped);
  const std::string unknown = base::Join(findings.unknown, ", ");
  if (!validate || unknown.empty()) return {};
  return WrongInput("error validating " + manifest.where + ": " + name + "unknown field " +
                    unknown +
                    "; if you choose to ignore this, turn validation off with --validate=false");
}

// Finds the kinds that are in no namespace: by the served kinds, by CustomResourceDefinitions among
// the manifests, or by the list of built-in kinds.
class Scopes {
 public:
  // `kinds` must outlive it.
  Scopes(const client::Discovered& kinds, const std::vector<Manifest>& manifests) : kinds_(kinds) {
    for (const Manifest& manifest : manifests) {
      const json::Value& definition = manifest.object;
      if (api::Kind(definition) != "CustomResourceDefinition") continue;
      defined_[{std::string(definition.StringAt({"spec", "group"})),
                std::string(definition.StringAt({"spec", "names", "kind"}))}] =
          definition.StringAt({"spec", "scope"}) == "Cluster";
    }
  }
  [[nodiscard]] bool IsClusterScoped(const json::Value& object) const {
    const std::string kind(api::Kind(object));
    const std::string group = inspect::GroupOf(api::ApiVersion(object));
    const auto defined = defined_.find({group, kind});
    if (defined != defined_.end()) return defined->second;
    for (const client::ApiResource& resource : kinds_.resources) {
      if (resource.kind == kind && resource.gvr.group == group) return !resource.namespaced;
    }
    return std::ranges::any_of(
        kClusterScoped, [&](const auto& row) { return row.first == group && row.second == kind; });
  }

 private:
  const client::Discovered& kinds_;
  std::map<std::pair<std::string, std::string>, bool> defined_;
};

// Deletes what a server drops from a new object, as exports (`kubectl get -o yaml`) have it.
void DropServerFields(json::Value& object) {
  if (!object.IsObject()) return;
  object.AsObject()->Erase("status");
  if (object.At({"metadata"}) == nullptr || !object.At({"metadata"})->IsObject()) return;
  json::Object& metadata = *object.Make({"metadata"}).AsObject();
  for (const char* member :
       {"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
        "deletionGracePeriodSeconds", "managedFields", "selfLink"}) {
    metadata.Erase(member);
  }
}

// True for a kind whose objects are counted together with what controllers make of them.
bool CountsWhatIsMade(const json::Value& object) {
  constexpr inspect::WorkloadKind kMakers[] = {inspect::kDeployment,
                                               inspect::kReplicaSet,
                                               inspect::kStatefulSet,
                                               inspect::kDaemonSet,
                                               inspect::kJob,
                                               inspect::kCronJob,
                                               inspect::kReplicationController,
                                               inspect::kPod,
                                               inspect::kService,
                                               inspect::kEndpoints};
  return std::ranges::any_of(kMakers, [&](const auto& kind) { return inspect::Is(object, kind); });
}

// Drops what a controller makes of another one of the manifests, as exports have both, and then the
// owners: what they refer to is of the cluster that the export comes from. Endpoints have no owner,
// but the name of their Service.
void DropMade(std::vector<Manifest>& manifests) {
  std::set<inspect::ObjectName> makers;
  std::set<std::string, std::less<>> services;
  for (const Manifest& manifest : manifests) {
    if (CountsWhatIsMade(manifest.object)) makers.insert(inspect::NameOf(manifest.object));
    if (inspect::HasEndpoints(manifest.object)) services.emplace(api::Name(manifest.object));
  }
  std::erase_if(manifests, [&](const Manifest& manifest) {
    const bool of_service = inspect::Is(manifest.object, inspect::kEndpoints);
    if (of_service && services.contains(api::Name(manifest.object))) return true;
    const auto owners = manifest.object.ArrayAt({"metadata", "ownerReferences"});
    return std::ranges::any_of(owners, [&](const json::Value& owner) {
      const inspect::ObjectName name{base::ToLower(api::Kind(owner)),
                                     inspect::GroupOf(api::ApiVersion(owner)),
                                     std::string(owner.StringAt({"name"}))};
      return inspect::FlagAt(owner, {"controller"}) && makers.contains(name);
    });
  });
  for (Manifest& manifest : manifests) {
    if (manifest.object.At({"metadata", "ownerReferences"}) == nullptr) continue;
    manifest.object.Make({"metadata"}).AsObject()->Erase("ownerReferences");
  }
}

}  // namespace

base::Error WrongInput(const std::string& why) {
  return {.code = base::ErrorCode::kInvalidArgument, .message = why};
}

bool IsNamespace(const Manifest& manifest) {
  return api::Kind(manifest.object) == "Namespace" && api::ApiVersion(manifest.object) == "v1" &&
         !api::Name(manifest.object).empty();
}

base::Result<void> CheckNamespace(const Manifest& manifest, const Options& options) {
  const std::string own(api::Namespace(manifest.object));
  if (own.empty() || options.place.ns.empty() || own == options.place.ns) return {};
  return WrongInput(manifest.where + ": the namespace from the provided object \"" + own +
                    "\" does not match the namespace \"" + options.place.ns +
                    "\". You must pass '--namespace=" + own + "' to perform this operation.");
}

// Hooks of two phases may share a name: Helm deletes the one before it creates the other.
void DropRepeated(std::vector<Manifest>& manifests) {
  using Key =
      std::tuple<std::string, inspect::ObjectName, inspect::HelmPhase>;  // with the namespace
  std::map<Key, std::size_t> later;                                      // positions in `kept`
  std::vector<Manifest> kept;
  for (auto manifest = manifests.rbegin(); manifest != manifests.rend(); ++manifest) {
    const bool named = !api::Name(manifest->object).empty();
    if (named) {
      const auto [at, first] =
          later.emplace(Key(api::Namespace(manifest->object), inspect::NameOf(manifest->object),
                            inspect::HelmPhaseOf(manifest->object)),
                        kept.size());
      if (!first) ++kept[at->second].earlier;
      if (!first) continue;
    }
    kept.push_back(std::move(*manifest));
  }
  std::ranges::reverse(kept);
  manifests = std::move(kept);
}

base::Result<ManifestsByNamespace> ReadGrouped(const Options& options, const std::string& ns,
                                               const client::Discovered& kinds) {
  auto manifests = ReadChecked(options.check);
  if (!manifests) return manifests.error();
  if (manifests->empty()) return WrongInput("no objects passed to check");
  ManifestsByNamespace groups;
  const Scopes scopes(kinds, *manifests);
  for (Manifest& manifest : *manifests) {
    const bool cluster_scoped = scopes.IsClusterScoped(manifest.object);
    DropServerFields(manifest.object);
    // As kubectl does: a namespace of an object that is in none means nothing.
    if (cluster_scoped && !api::Namespace(manifest.object).empty()) {
      manifest.object.Make({"metadata"}).AsObject()->Erase("namespace");
    }
    if (auto fine = CheckNamespace(manifest, options); !fine) return fine.error();
    if (auto fine = CheckFields(manifest, options.check.validate); !fine) return fine.error();
    if (IsNamespace(manifest)) {
      groups[std::string(api::Name(manifest.object))].push_back(std::move(manifest));
      continue;
    }
    if (cluster_scoped) {
      groups[ns].push_back(std::move(manifest));
      continue;
    }
    if (api::Namespace(manifest.object).empty()) {
      manifest.object.Make({"metadata", "namespace"}) = ns;
    }
    groups[std::string(api::Namespace(manifest.object))].push_back(std::move(manifest));
  }
  for (auto& [name, group] : groups) {
    DropRepeated(group);
    DropMade(group);
    std::ranges::stable_sort(
        group, {}, [](const Manifest& manifest) { return inspect::HelmPhaseOf(manifest.object); });
  }
  return groups;
}

}  // namespace kubectl_quota
