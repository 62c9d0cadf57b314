#include "cmd/kubectl-quota/surroundings.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "cmd/kubectl-quota/counting.h"
#include "cmd/kubectl-quota/words.h"
#include "pkg/api/object_meta.h"
#include "pkg/inspect/node_fit.h"

namespace kubectl_quota {
namespace {

using Objects = std::vector<json::Value>;

const api::GroupVersionResource kLimitRanges{"", "v1", "limitranges"};
const api::GroupVersionResource kRuntimeClasses{"node.k8s.io", "v1", "runtimeclasses"};
const api::GroupVersionResource kPriorityClasses{"scheduling.k8s.io", "v1", "priorityclasses"};
const api::GroupVersionResource kStorageClasses{"storage.k8s.io", "v1", "storageclasses"};
const api::GroupVersionResource kAutoscalers{"autoscaling", "v2", "horizontalpodautoscalers"};
const api::GroupVersionResource kNodes{"", "v1", "nodes"};
const api::GroupVersionResource kVolumeClaims{"", "v1", "persistentvolumeclaims"};

// Lists the objects of a collection. If they may not be listed or are not served, returns none and
// warns; `unread`, if given, gets the warning instead.
base::Task<base::Result<Objects>> ReadAll(Cluster& cluster, informers::ReflectorOptions what,
                                          std::string without, std::string* unread = nullptr) {
  Objects objects;
  auto listed = co_await cluster.List(
      std::move(what), [&](const json::Value& object) { objects.push_back(object); },
      [&] { objects.clear(); });
  if (listed) co_return objects;
  if (listed.error().Is(base::ErrorCode::kNotFound)) co_return Objects();
  if (!listed.error().Is(base::ErrorCode::kForbidden)) co_return listed.error();
  const std::string warning = without + ": " + ErrorText(listed.error());
  if (unread != nullptr) {
    *unread = warning;
  } else {
    cluster.terminal().Doubt(warning);
  }
  co_return Objects();
}

// Returns the names of all classes that a pod can refer to; nullopt if the cluster may have others.
std::optional<std::set<std::string, std::less<>>> AllOf(const Objects& classes, bool known) {
  if (!known) return std::nullopt;
  std::set<std::string, std::less<>> names;
  for (const json::Value& one : classes) names.emplace(api::Name(one));
  return names;
}

// True if a pod of a class that does not exist is refused. Karmada's own server keeps the templates
// of pods that other clusters make, with their own classes.
bool KnowsClasses(const client::Discovered& kinds, const api::GroupVersionResource& resource,
                  const std::string& unread) {
  return unread.empty() && Serves(kinds, resource) &&
         FindResource(kinds, {"work.karmada.io", "resourcebindings"}) == nullptr;
}

bool NamesStorageClass(const quota::Quota& quota) {
  return std::ranges::any_of(quota.hard, [](const auto& limit) {
    return limit.first.find(".storageclass.storage.k8s.io/") != std::string::npos;
  });
}

bool HasScope(const quota::Quota& quota, std::string_view scope) {
  return std::ranges::any_of(quota.selector,
                             [&](const auto& requirement) { return requirement.scope == scope; });
}

}  // namespace

void WarnOf(const Unread& unread, const json::Value& object,
            const std::vector<quota::Quota>& quotas, Terminal& terminal) {
  const bool pod = api::Kind(object) == "Pod";
  const bool claim = api::Kind(object) == "PersistentVolumeClaim";
  const auto by_class = [](const quota::Quota& quota) { return HasScope(quota, "PriorityClass"); };
  if (pod && !object.StringAt({"spec", "runtimeClassName"}).empty() &&
      !unread.runtime_classes.empty()) {
    terminal.Doubt(unread.runtime_classes);
  }
  if (pod && object.StringAt({"spec", "priorityClassName"}).empty() &&
      !unread.priority_classes.empty() && std::ranges::any_of(quotas, by_class)) {
    terminal.Doubt(unread.priority_classes);
  }
  if (claim && object.StringAt({"spec", "storageClassName"}).empty() &&
      !unread.storage_classes.empty() && std::ranges::any_of(quotas, NamesStorageClass)) {
    terminal.Doubt(unread.storage_classes);
  }
  if (inspect::IsScalable(object) && !unread.autoscalers.empty() && !quotas.empty()) {
    terminal.Doubt(unread.autoscalers);
  }
}

base::Task<base::Result<inspect::Surroundings>> ReadSurroundings(
    Cluster& cluster, std::string ns, Unread& unread, ClusterPolicies policies,
    std::vector<json::Value>* limit_ranges) {
  inspect::Surroundings surroundings;
  inspect::Defaults& defaults = surroundings.defaults;
  auto ranges = co_await ReadAll(cluster, Listing(kLimitRanges, ns, "spec"),
                                 "counted without the defaults of LimitRanges");
  if (!ranges) co_return ranges.error();
  for (const json::Value& range : *ranges) {
    if (auto added = inspect::AddLimitRange(range, defaults); !added) co_return added.error();
  }
  if (limit_ranges != nullptr) *limit_ranges = std::move(*ranges);
  auto runtimes =
      co_await ReadAll(cluster, Listing(kRuntimeClasses, "", "overhead"),
                       "counted without the overhead of RuntimeClasses", &unread.runtime_classes);
  if (!runtimes) co_return runtimes.error();
  auto priorities = co_await ReadAll(
      cluster, Listing(kPriorityClasses, "", "globalDefault value"),
      "pods without a PriorityClass are counted without a default one", &unread.priority_classes);
  if (!priorities) co_return priorities.error();
  auto storages = co_await ReadAll(
      cluster, Listing(kStorageClasses, "", "metadata.annotations metadata.creationTimestamp"),
      "claims without a StorageClass are counted without a default one", &unread.storage_classes);
  if (!storages) co_return storages.error();
  Replace(policies.runtime_classes, *runtimes);
  Replace(policies.priority_classes, *priorities);
  Replace(policies.storage_classes, *storages);
  SetClasses(*runtimes, *priorities, *storages, defaults);
  const client::Discovered* kinds = co_await cluster.Kinds();
  defaults.runtime_classes =
      AllOf(*runtimes, KnowsClasses(*kinds, kRuntimeClasses, unread.runtime_classes));
  defaults.priority_classes =
      AllOf(*priorities, KnowsClasses(*kinds, kPriorityClasses, unread.priority_classes));
  co_return surroundings;
}

base::Task<base::Result<void>> ReadNodes(Cluster& cluster, inspect::Surroundings& surroundings) {
  std::string unread;
  auto nodes = co_await ReadAll(cluster, Listing(kNodes, "", inspect::kNodeFields),
                                "pods of DaemonSets are not counted", &unread);
  if (!nodes) co_return nodes.error();
  if (!unread.empty()) {
    cluster.terminal().Warn(unread);
    co_return base::Result<void>();
  }
  const auto shared = std::make_shared<const Objects>(std::move(*nodes));
  surroundings.nodes_for = [shared](const json::Value& spec) {
    return static_cast<std::int64_t>(std::ranges::count_if(
        *shared, [&](const json::Value& node) { return inspect::DaemonRunsOn(spec, node); }));
  };
  co_return base::Result<void>();
}

base::Task<base::Result<void>> ReadAutoscalers(Cluster& cluster, std::string ns,
                                               std::vector<json::Value> manifests, Unread& unread,
                                               inspect::Surroundings& surroundings) {
  auto stored = co_await ReadAll(cluster, Listing(kAutoscalers, std::move(ns), "spec"),
                                 "counted without the HorizontalPodAutoscalers of the cluster",
                                 &unread.autoscalers);
  if (!stored) co_return stored.error();
  // The list leaves out the kind of its items.
  for (json::Value& autoscaler : *stored) {
    autoscaler.Make({"apiVersion"}) = "autoscaling/v2";
    autoscaler.Make({"kind"}) = "HorizontalPodAutoscaler";
  }
  Replace(manifests, *stored);
  for (const json::Value& autoscaler : *stored) surroundings.autoscalers.Add(autoscaler);
  co_return base::Result<void>();
}

base::Task<base::Result<void>> ReadClaims(Cluster& cluster, std::string ns,
                                          inspect::Surroundings& surroundings) {
  std::string unread;
  auto claims = co_await ReadAll(cluster, Listing(kVolumeClaims, std::move(ns), "metadata.name"),
                                 "existing claims are counted as new", &unread);
  if (!claims) co_return claims.error();
  if (!unread.empty()) cluster.terminal().Warn(unread);
  for (const json::Value& claim : *claims) {
    surroundings.claims.emplace(api::Name(claim));
  }
  co_return base::Result<void>();
}

base::Task<base::Result<void>> ReadClaimTemplates(Cluster& cluster, std::string ns,
                                                  std::set<std::string> names,
                                                  inspect::Surroundings& surroundings) {
  const client::Discovered* kinds = co_await cluster.Kinds();
  const auto* served = FindResource(*kinds, {"resource.k8s.io", "resourceclaimtemplates"});
  if (served == nullptr) co_return base::Result<void>();
  for (const std::string& name : names) {
    if (surroundings.claim_templates->contains(name)) continue;
    auto read = co_await cluster.Get(served->gvr.Path(ns, name));
    if (read) surroundings.claim_templates->emplace(name, std::move(*read));
    if (!read && !read.error().Is(base::ErrorCode::kNotFound)) co_return read.error();
  }
  co_return base::Result<void>();
}

}  // namespace kubectl_quota
