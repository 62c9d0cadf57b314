#include "cmd/kubectl-quota/selected_pods.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "cmd/kubectl-quota/counting.h"
#include "cmd/kubectl-quota/family.h"
#include "cmd/kubectl-quota/policies.h"
#include "cmd/kubectl-quota/words.h"
#include "pkg/api/object_meta.h"
#include "pkg/inspect/apply.h"
#include "pkg/inspect/manifest.h"
#include "pkg/inspect/mirrored_slices.h"
#include "pkg/inspect/workload_kinds.h"

namespace kubectl_quota {
namespace {

using Objects = std::vector<json::Value>;

const api::GroupVersionResource kSelectedPods{"", "v1", "pods"};
const api::GroupVersionResource kServices{"", "v1", "services"};
const api::GroupVersionResource kEndpoints{"", "v1", "endpoints"};
const api::GroupVersionResource kSlices{"discovery.k8s.io", "v1", "endpointslices"};

// Lists the objects with these fields; nullopt, with a doubt, if they may not be listed.
base::Task<base::Result<std::optional<Objects>>> ListOrDoubt(Cluster& cluster,
                                                             informers::ReflectorOptions what,
                                                             std::string without) {
  Objects objects;
  auto listed = co_await cluster.List(
      std::move(what), [&](const json::Value& object) { objects.push_back(object); },
      [&] { objects.clear(); });
  if (listed) co_return std::optional(std::move(objects));
  if (!listed.error().Is(base::ErrorCode::kForbidden)) co_return listed.error();
  cluster.terminal().Doubt(without + ": " + ErrorText(listed.error()));
  co_return std::optional<Objects>();
}

base::Task<base::Result<std::optional<Objects>>> ListOf(Cluster& cluster,
                                                        api::GroupVersionResource resource,
                                                        std::string ns, std::string without) {
  return ListOrDoubt(cluster,
                     Listing(std::move(resource), std::move(ns),
                             "metadata.name metadata.namespace metadata.labels "
                             "metadata.annotations spec subsets"),
                     std::move(without));
}

// Returns the objects of a kind as they are after the manifests are applied.
Objects After(Objects stored, const std::vector<inspect::Manifest>& manifests,
              const inspect::WorkloadKind& kind) {
  Objects after = OfKind(manifests, kind);
  std::map<std::string, json::Value*, std::less<>> own;
  for (json::Value& object : after) own.emplace(api::Name(object), &object);
  Objects others;
  for (json::Value& object : stored) {
    object.Make({"apiVersion"}) = "v1";
    object.Make({"kind"}) = kind.kind;
    const auto manifest = own.find(api::Name(object));
    if (manifest == own.end()) {
      others.push_back(std::move(object));
    } else {
      *manifest->second = inspect::Applied(*manifest->second, std::move(object));
    }
  }
  std::ranges::move(others, std::back_inserter(after));
  return after;
}

// Counts the slices that a controller manages.
inspect::SliceCounts SlicesBy(std::string_view manager, const Objects& slices) {
  inspect::SliceCounts counts;
  for (const json::Value& slice : slices) {
    if (api::Label(slice, "endpointslice.kubernetes.io/managed-by") != manager) continue;
    ++counts[std::string(api::Label(slice, "kubernetes.io/service-name").value_or(""))];
  }
  return counts;
}

// True if it can need EndpointSlices that mirror Endpoints.
bool MayAddMirrors(const inspect::Manifest& manifest) {
  return inspect::Is(manifest.object, inspect::kEndpoints) ||
         (inspect::Is(manifest.object, inspect::kService) &&
          !inspect::HasSelector(manifest.object));
}

// Returns the spec of a pod with nothing but what tells the numbers of named ports.
json::Value PortsIn(const json::Value& pod) {
  json::Value spec = json::Object();
  for (const char* list : {"containers", "initContainers"}) {
    json::Array containers;
    for (const json::Value& container : pod.ArrayAt({"spec", list})) {
      const json::Value* ports = container.At({"ports"});
      if (ports == nullptr) continue;
      json::Object plain{{"ports", *ports}};
      plain.Set("restartPolicy", container.StringAt({"restartPolicy"}));
      containers.emplace_back(std::move(plain));
    }
    if (!containers.empty()) spec.Make({list}) = std::move(containers);
  }
  return spec;
}

bool IsOfManifest(const json::Value& labels, const inspect::Surroundings& surroundings) {
  return std::ranges::any_of(surroundings.labelled,
                             [&](const inspect::Surroundings::Labelled& pods) {
                               return inspect::HaveLabels(labels, pods.labels);
                             });
}

}  // namespace

base::Task<base::Result<void>> ReadStoredPods(Cluster& cluster, std::string ns,
                                              inspect::Surroundings& surroundings) {
  auto what = Listing(kSelectedPods, std::move(ns),
                      "metadata.labels metadata.deletionTimestamp status.phase spec.containers "
                      "spec.initContainers");
  const auto pods = co_await ListOrDoubt(cluster, std::move(what),
                                         "EndpointSlices are counted without the stored pods");
  if (!pods) co_return pods.error();
  if (!*pods) co_return base::Result<void>();
  // By their labels and ports.
  std::map<std::string, inspect::Surroundings::Labelled> stored;
  for (const json::Value& pod : **pods) {
    const json::Value* labels = pod.At({"metadata", "labels"});
    if (labels == nullptr || !IsActive(pod) || IsOfManifest(*labels, surroundings)) continue;
    const json::Value spec = PortsIn(pod);
    auto& same = stored[json::Write(*labels) + json::Write(spec)];
    same.labels = *labels;
    same.spec = spec;
    ++same.count;
  }
  for (auto& [text, labelled] : stored) surroundings.labelled.push_back(std::move(labelled));
  co_return base::Result<void>();
}

base::Task<base::Result<inspect::Expansion>> LackingSlices(
    Cluster& cluster, std::string ns, const std::vector<inspect::Manifest>& manifests,
    const inspect::Surroundings& surroundings) {
  const std::string without = "EndpointSlices of stored Services are not counted";
  inspect::Expansion lacking;
  auto services = co_await ListOf(cluster, kServices, ns, without);
  if (!services) co_return services.error();
  const auto slices = co_await ListOf(cluster, kSlices, ns, without);
  if (!slices) co_return slices.error();
  if (!*services || !*slices) co_return lacking;
  const Objects after = After(std::move(**services), manifests, inspect::kService);
  const inspect::SliceCounts selected = SlicesBy("endpointslice-controller.k8s.io", **slices);
  for (const json::Value& service : after) {
    const auto now = selected.find(api::Name(service));
    // One that has none yet, or never will.
    if (now == selected.end() || !inspect::HasEndpoints(service)) continue;
    inspect::AddSlices(service, inspect::SlicesFor(service, surroundings) - now->second,
                       inspect::kBySelector, lacking);
  }
  if (std::ranges::none_of(manifests, MayAddMirrors)) co_return lacking;
  auto endpoints = co_await ListOf(cluster, kEndpoints, ns,
                                   "EndpointSlices that mirror stored Endpoints are not counted");
  if (!endpoints) co_return endpoints.error();
  if (!*endpoints) co_return lacking;
  inspect::Expansion mirrors =
      inspect::LackingMirrors(after, After(std::move(**endpoints), manifests, inspect::kEndpoints),
                              SlicesBy("endpointslicemirroring-controller.k8s.io", **slices));
  std::ranges::move(mirrors.pieces, std::back_inserter(lacking.pieces));
  co_return lacking;
}

}  // namespace kubectl_quota
