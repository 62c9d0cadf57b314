#include "pkg/inspect/mirrored_slices.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/inspect/workload_kinds.h"

namespace inspect {
namespace {

using json::Value;

// The ports of a subset in one form, whatever their order is.
std::string PortsOf(const Value& subset) {
  std::vector<std::string> ports;
  for (const Value& port : subset.ArrayAt({"ports"})) {
    const std::string_view protocol = port.StringAt({"protocol"});
    const json::Object plain{{"name", port.StringAt({"name"})},
                             {"port", NumberAt(port, {"port"}, 0)},
                             {"protocol", protocol.empty() ? "TCP" : protocol},
                             {"appProtocol", port.StringAt({"appProtocol"})}};
    ports.push_back(json::Write(plain));
  }
  std::ranges::sort(ports);
  std::string all;
  for (const std::string& port : ports) all += port;
  return all;
}

bool IsMirrored(const Value& endpoints) {
  const Value* annotations = api::Annotations(endpoints);
  const bool elects = annotations != nullptr &&
                      annotations->At({"control-plane.alpha.kubernetes.io/leader"}) != nullptr;
  return !elects && api::Label(endpoints, "endpointslice.kubernetes.io/skip-mirror") != "true";
}

}  // namespace

std::int64_t MirrorsOf(const Value& endpoints) {
  if (!IsMirrored(endpoints)) return 0;
  std::set<std::pair<bool, std::string>> groups;
  for (const Value& subset : endpoints.ArrayAt({"subsets"})) {
    const std::string ports = PortsOf(subset);
    for (const char* list : {"addresses", "notReadyAddresses"}) {
      for (const Value& address : subset.ArrayAt({list})) {
        const bool six = address.StringAt({"ip"}).find(':') != std::string_view::npos;
        groups.emplace(six, ports);
      }
    }
  }
  return static_cast<std::int64_t>(groups.size());
}

Expansion LackingMirrors(const std::vector<Value>& services, const std::vector<Value>& endpoints,
                         const SliceCounts& present) {
  Expansion lacking;
  for (const Value& each : endpoints) {
    const bool mirrored = std::ranges::any_of(services, [&](const Value& service) {
      return api::Name(service) == api::Name(each) && !HasSelector(service);
    });
    if (!mirrored) continue;
    const auto now = present.find(api::Name(each));
    const std::int64_t there = now == present.end() ? 0 : now->second;
    AddSlices(each, MirrorsOf(each) - there, "its addresses", lacking);
  }
  return lacking;
}

}  // namespace inspect
