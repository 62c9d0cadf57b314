// The EndpointSlices of Services.

#include <algorithm>

#include "pkg/api/object_meta.h"
#include "pkg/inspect/manifest.h"
#include "pkg/inspect/workload.h"
#include "pkg/inspect/workload_kinds.h"

namespace inspect {
namespace {

using json::Value;

std::int64_t FamiliesOf(const Value& service) {
  // A stored Service has its families.
  const auto& families = service.ArrayAt({"spec", "ipFamilies"});
  if (!families.empty()) return static_cast<std::int64_t>(families.size());
  const std::string_view policy = service.StringAt({"spec", "ipFamilyPolicy"});
  return policy == "RequireDualStack" || policy == "PreferDualStack" ? 2 : 1;
}

}  // namespace

bool HaveLabels(const Value& labels, const Value& wanted) {
  const json::Object* const all = wanted.AsObject();
  return all != nullptr && std::ranges::all_of(*all, [&](const auto& label) {
           const Value* own = labels.At({label.first});
           return own != nullptr && *own == label.second;
         });
}

// Slices have up to 100 endpoints (kubernetes v1.36.3, --max-endpoints-per-slice of
// kube-controller-manager).
std::int64_t SlicesFor(const Value& service, const Surroundings& surroundings) {
  constexpr std::int64_t kMostInSlice = 100;
  std::int64_t endpoints = 0;
  const Value& selector = *service.At({"spec", "selector"});
  for (const Surroundings::Labelled& pods : surroundings.labelled) {
    if (HaveLabels(pods.labels, selector)) endpoints += pods.count;
  }
  const std::int64_t slices =
      std::max<std::int64_t>(1, (endpoints + kMostInSlice - 1) / kMostInSlice);
  return slices * FamiliesOf(service);
}

void AddSlices(const Value& maker, std::int64_t count, const std::string& by,
               Expansion& expansion) {
  if (count <= 0) return;
  const std::string name = std::string(api::Name(maker)) + "-…";
  expansion.pieces.push_back({.object = MadeBy(maker, "discovery.k8s.io/v1", "EndpointSlice", name),
                              .count = count,
                              .of = NameOf(maker),
                              .role = {"EndpointSlice", by}});
}

}  // namespace inspect
