#include "cmd/kubectl-quota/selected_pods.h"

#include <algorithm>
#include <map>
#include <utility>

#include "cmd/kubectl-quota/counting.h"
#include "cmd/kubectl-quota/family.h"
#include "cmd/kubectl-quota/words.h"
#include "pkg/api/object_meta.h"
#include "pkg/inspect/manifest.h"
#include "pkg/inspect/workload_kinds.h"

namespace kubectl_quota {
namespace {

const api::GroupVersionResource kSelectedPods{"", "v1", "pods"};
const api::GroupVersionResource kServices{"", "v1", "services"};
const api::GroupVersionResource kSlices{"discovery.k8s.io", "v1", "endpointslices"};

// Lists the objects; returns false, with a doubt, if they may not be listed.
base::Task<base::Result<bool>> ListOrDoubt(Cluster& cluster, informers::ReflectorOptions what,
                                           std::string without, std::vector<json::Value>& objects) {
  auto listed = co_await cluster.List(
      std::move(what), [&](const json::Value& object) { objects.push_back(object); },
      [&] { objects.clear(); });
  if (listed) co_return true;
  if (!listed.error().Is(base::ErrorCode::kForbidden)) co_return listed.error();
  cluster.terminal().Doubt(without + ": " + ErrorText(listed.error()));
  co_return false;
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
  std::vector<json::Value> pods;
  auto what = Listing(kSelectedPods, std::move(ns),
                      "metadata.labels metadata.deletionTimestamp status.phase");
  const auto listed = co_await ListOrDoubt(
      cluster, std::move(what), "EndpointSlices are counted without the stored pods", pods);
  if (!listed) co_return listed.error();
  std::map<std::string, inspect::Surroundings::Labelled> stored;  // by their labels
  for (const json::Value& pod : pods) {
    const json::Value* labels = pod.At({"metadata", "labels"});
    if (labels == nullptr || !IsActive(pod) || IsOfManifest(*labels, surroundings)) continue;
    auto& same = stored[json::Write(*labels)];
    same.labels = *labels;
    ++same.count;
  }
  for (auto& [text, labelled] : stored) surroundings.labelled.push_back(std::move(labelled));
  co_return base::Result<void>();
}

base::Task<base::Result<inspect::Expansion>> LackingSlices(
    Cluster& cluster, std::string ns, const std::vector<inspect::Manifest>& manifests,
    const inspect::Surroundings& surroundings) {
  inspect::Expansion lacking;
  std::vector<json::Value> services;
  std::vector<json::Value> slices;
  for (const auto& [what, fields, into] :
       {std::tuple(kServices, "metadata.name metadata.namespace spec", &services),
        std::tuple(kSlices, "metadata.labels", &slices)}) {
    const auto listed =
        co_await ListOrDoubt(cluster, Listing(what, ns, fields),
                             "EndpointSlices of stored Services are not counted", *into);
    if (!listed) co_return listed.error();
    if (!*listed) co_return lacking;
  }
  std::map<std::string, std::int64_t, std::less<>> present;  // by Service
  for (const json::Value& slice : slices) {
    ++present[std::string(slice.StringAt({"metadata", "labels", "kubernetes.io/service-name"}))];
  }
  for (json::Value& service : services) {
    service.Make({"apiVersion"}) = "v1";
    service.Make({"kind"}) = "Service";
    const auto own = std::ranges::find_if(manifests, [&](const inspect::Manifest& manifest) {
      return inspect::NameOf(manifest.object) == inspect::NameOf(service);
    });
    if (own != manifests.end() && own->object.At({"spec", "selector"}) != nullptr) {
      service.Make({"spec", "selector"}) = *own->object.At({"spec", "selector"});
    }
    const auto now = present.find(api::Name(service));
    // One that has none yet, or never will.
    if (now == present.end() || !inspect::HasEndpoints(service)) continue;
    inspect::AddSlices(service, inspect::SlicesFor(service, surroundings) - now->second, lacking);
  }
  co_return lacking;
}

}  // namespace kubectl_quota
