// The EndpointSlices of Services.

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

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

std::string_view ProtocolOf(const Value& port) {
  const std::string_view protocol = port.StringAt({"protocol"});
  return protocol.empty() ? "TCP" : protocol;
}

// Returns the number of a named port; nullptr if no container has it.
const Value* NumberOf(std::string_view name, std::string_view protocol, const Value& pod_spec) {
  for (const char* list : {"containers", "initContainers"}) {
    const bool initial = list == std::string_view("initContainers");
    for (const Value& container : pod_spec.ArrayAt({list})) {
      const bool runs = !initial || container.StringAt({"restartPolicy"}) == "Always";
      if (!runs) continue;
      for (const Value& port : container.ArrayAt({"ports"})) {
        const bool meant = port.StringAt({"name"}) == name && ProtocolOf(port) == protocol;
        if (meant) return port.At({"containerPort"});
      }
    }
  }
  return nullptr;
}

// The ports of a Service at a pod, in one text. Only named ones depend on the pod (kubernetes
// v1.36.3, FindPort in staging/src/k8s.io/endpointslice/utils.go).
std::string PortsAt(const Value& service, const Value& pod_spec) {
  std::string ports;
  for (const Value& port : service.ArrayAt({"spec", "ports"})) {
    const std::string_view name = port.StringAt({"targetPort"});
    const Value* number = name.empty() ? nullptr : NumberOf(name, ProtocolOf(port), pod_spec);
    ports += (number == nullptr ? "" : json::Write(*number)) + " ";
  }
  return ports;
}

}  // namespace

bool HaveLabels(const Value& labels, const Value& wanted) {
  const json::Object* const all = wanted.AsObject();
  return all != nullptr && std::ranges::all_of(*all, [&](const auto& label) {
           const Value* own = labels.At({label.first});
           return own != nullptr && *own == label.second;
         });
}

// Slices have up to 100 endpoints with the same ports (kubernetes v1.36.3,
// --max-endpoints-per-slice of kube-controller-manager).
std::int64_t SlicesFor(const Value& service, const Surroundings& surroundings) {
  constexpr std::int64_t kMostInSlice = 100;
  std::map<std::string, std::int64_t> endpoints;  // by their ports
  const Value& selector = *service.At({"spec", "selector"});
  for (const Surroundings::Labelled& pods : surroundings.labelled) {
    if (HaveLabels(pods.labels, selector)) endpoints[PortsAt(service, pods.spec)] += pods.count;
  }
  std::int64_t slices = 0;
  for (const auto& [ports, count] : endpoints) slices += (count + kMostInSlice - 1) / kMostInSlice;
  return std::max<std::int64_t>(1, slices) * FamiliesOf(service);
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
