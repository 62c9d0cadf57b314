#include "cmd/kubectl-quota/stored_pods.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "cmd/kubectl-quota/counting.h"
#include "cmd/kubectl-quota/family.h"
#include "cmd/kubectl-quota/words.h"
#include "pkg/api/object_meta.h"
#include "pkg/inspect/helm.h"
#include "pkg/inspect/workload_kinds.h"

namespace kubectl_quota {
namespace {

using inspect::Is;
using Objects = std::vector<json::Value>;

const api::GroupVersionResource kStoredPods{"", "v1", "pods"};
const api::GroupVersionResource kStoredSets{"apps", "v1", "replicasets"};
const api::GroupVersionResource kStoredRevisions{"apps", "v1", "controllerrevisions"};
const api::GroupVersionResource kStoredClaims{"", "v1", "persistentvolumeclaims"};

constexpr const char* kMetadata =
    "metadata.labels metadata.ownerReferences metadata.deletionTimestamp "
    "metadata.deletionGracePeriodSeconds metadata.creationTimestamp ";

// "app=web,tier=front"; "" if the selector has more than labels.
std::string LabelsOf(const json::Value& workload) {
  std::string selector;
  const json::Value* more = workload.At({"spec", "selector", "matchExpressions"});
  const json::Value* labels = workload.At({"spec", "selector", "matchLabels"});
  if (more != nullptr || labels == nullptr || !labels->IsObject()) return selector;
  for (const auto& [key, value] : *labels->AsObject()) {
    if (value.AsString() == nullptr) return "";
    selector.append(selector.empty() ? "" : ",").append(key).append("=").append(*value.AsString());
  }
  return selector;
}

// Lists the objects with the kind that the list leaves out. nullopt: they may not be listed.
base::Task<base::Result<std::optional<Objects>>> ReadKind(Cluster& cluster,
                                                          informers::ReflectorOptions what,
                                                          std::string kind) {
  Objects objects;
  const std::string version = what.resource.GroupVersion();
  const std::string name = what.resource.WithoutVersion().ToString();
  const auto add = [&](const json::Value& object) {
    json::Value& whole = objects.emplace_back(object);
    whole.Make({"apiVersion"}) = version;
    whole.Make({"kind"}) = kind;
  };
  auto listed = co_await cluster.List(std::move(what), add, [&] { objects.clear(); });
  if (listed) co_return std::optional(std::move(objects));
  if (listed.error().Is(base::ErrorCode::kNotFound)) co_return std::optional(Objects());
  if (!listed.error().Is(base::ErrorCode::kForbidden)) co_return listed.error();
  cluster.terminal().Warn("counted without stored " + name + ": " + ErrorText(listed.error()));
  co_return std::optional<Objects>();
}

bool IsOwn(const json::Value& pod, const std::set<std::string>& owners) {
  return std::ranges::any_of(owners,
                             [&](const std::string& uid) { return inspect::IsOwnedBy(pod, uid); });
}

bool HasVolumeClaims(const json::Value& pod) {
  const auto& volumes = pod.ArrayAt({"spec", "volumes"});
  return std::ranges::any_of(
      volumes, [](const json::Value& volume) { return volume.At({"ephemeral"}) != nullptr; });
}

bool HasDeviceClaims(const json::Value& pod) {
  return !pod.ArrayAt({"spec", "resourceClaims"}).empty();
}

// Adds the claims of a kind that pods own.
base::Task<base::Result<void>> ReadClaimsOf(Cluster& cluster, std::string ns,
                                            api::GroupVersionResource resource, std::string kind,
                                            inspect::Made& made) {
  auto claims = co_await ReadKind(
      cluster, Listing(std::move(resource), std::move(ns), kMetadata + std::string("spec status")),
      std::move(kind));
  if (!claims) co_return claims.error();
  if (!*claims) co_return base::Result<void>();
  for (json::Value& claim : **claims) {
    for (const json::Value& owner : claim.ArrayAt({"metadata", "ownerReferences"})) {
      made.claims.emplace(owner.StringAt({"uid"}), claim);
    }
  }
  co_return base::Result<void>();
}

base::Task<base::Result<void>> ReadClaimsOfPods(Cluster& cluster, std::string ns,
                                                inspect::Made& made) {
  if (std::ranges::any_of(made.pods, HasVolumeClaims)) {
    auto read = co_await ReadClaimsOf(cluster, ns, kStoredClaims, "PersistentVolumeClaim", made);
    if (!read) co_return read;
  }
  if (!std::ranges::any_of(made.pods, HasDeviceClaims)) co_return base::Result<void>();
  const client::Discovered* kinds = co_await cluster.Kinds();
  const auto* served = FindResource(*kinds, {"resource.k8s.io", "resourceclaims"});
  if (served == nullptr) co_return base::Result<void>();
  co_return co_await ReadClaimsOf(cluster, ns, served->gvr, "ResourceClaim", made);
}

// Returns the ReplicaSets of a Deployment, or the ControllerRevisions of another workload; nullopt:
// they may not be listed.
base::Task<base::Result<std::optional<Objects>>> ReadRevisions(Cluster& cluster, std::string ns,
                                                               json::Value stored,
                                                               std::string labels) {
  const bool sets = Is(stored, inspect::kDeployment);
  auto what = Listing(sets ? kStoredSets : kStoredRevisions, std::move(ns),
                      kMetadata + std::string(sets ? "spec.template" : "data"));
  what.label_selector = std::move(labels);
  auto revisions =
      co_await ReadKind(cluster, std::move(what), sets ? "ReplicaSet" : "ControllerRevision");
  if (!revisions || !*revisions) co_return revisions;
  std::erase_if(**revisions, [&](const json::Value& revision) {
    return !inspect::IsOwnedBy(revision, api::Uid(stored)) || api::IsBeingDeleted(revision);
  });
  co_return revisions;
}

}  // namespace

base::Task<base::Result<std::optional<inspect::Made>>> ReadMade(Cluster& cluster, std::string ns,
                                                                json::Value stored) {
  const bool by_sets = Is(stored, inspect::kDeployment);
  // Only a hook goes with its pods.
  const bool by_job = Is(stored, inspect::kJob) && inspect::IsHook(stored);
  if (!by_sets && !by_job && !Is(stored, inspect::kStatefulSet) &&
      !Is(stored, inspect::kDaemonSet)) {
    co_return std::optional<inspect::Made>();
  }
  const std::string labels = LabelsOf(stored);
  inspect::Made made;
  std::set<std::string> owners{std::string(api::Uid(stored))};
  if (!by_job) {
    auto revisions = co_await ReadRevisions(cluster, ns, stored, labels);
    if (!revisions) co_return revisions.error();
    if (!*revisions && by_sets) co_return std::optional<inspect::Made>();
    if (*revisions) made.revisions = std::move(**revisions);
  }
  if (by_sets) {
    for (const json::Value& set : made.revisions) owners.emplace(api::Uid(set));
  }
  auto of_pods = Listing(kStoredPods, ns, kMetadata + std::string("spec status"));
  of_pods.label_selector = labels;
  auto pods = co_await ReadKind(cluster, std::move(of_pods), "Pod");
  if (!pods) co_return pods.error();
  if (!*pods) co_return std::optional<inspect::Made>();
  for (json::Value& pod : **pods) {
    if (IsActive(pod) && IsOwn(pod, owners)) made.pods.push_back(std::move(pod));
  }
  if (auto read = co_await ReadClaimsOfPods(cluster, ns, made); !read) {
    co_return read.error();
  }
  co_return std::optional(std::move(made));
}

}  // namespace kubectl_quota
