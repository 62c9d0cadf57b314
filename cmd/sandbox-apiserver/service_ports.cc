#include "cmd/sandbox-apiserver/service_ports.h"

#include "cmd/sandbox-apiserver/resource_lists.h"

namespace sandbox {
namespace {

using json::Array;
using json::Value;

constexpr std::int64_t kFirst = 30000;
constexpr std::int64_t kLast = 32767;

std::int64_t NumberAt(const Value& port, std::string_view member) {
  const Value* const number = port.At({member});
  return number != nullptr ? number->AsInt64().value_or(0) : 0;
}

const Array& PortsOf(const Value& service) {
  static const auto* const none = new Array();
  const Value* const ports = service.At({"spec", "ports"});
  return ports != nullptr && ports->IsArray() ? *ports->AsArray() : *none;
}

Array* PortsOf(Value& service) {
  Value* const ports = FindMember(service, {"spec", "ports"});
  return ports != nullptr ? ports->AsArray() : nullptr;
}

bool MayHaveNodePorts(const Value& service) {
  const std::string_view type = service.StringAt({"spec", "type"});
  return type == "NodePort" || type == "LoadBalancer";
}

bool GetsNodePorts(const Value& service) {
  if (service.StringAt({"spec", "type"}) != "LoadBalancer") return MayHaveNodePorts(service);
  const Value* const allocate = service.At({"spec", "allocateLoadBalancerNodePorts"});
  return allocate == nullptr || allocate->AsBool().value_or(true);
}

std::set<std::int64_t> NodePortsOf(const Value& service) {
  std::set<std::int64_t> ports;
  CollectNodePorts(service, ports);
  return ports;
}

void Erase(Value& object, std::string_view member) { object.AsObject()->Erase(member); }

// Returns the node port that this port and protocol had before; 0 if it had none.
std::int64_t FormerNodePort(const Value& port, const Value& old) {
  for (const Value& former : PortsOf(old)) {
    const bool same = NumberAt(former, "port") == NumberAt(port, "port") &&
                      former.StringAt({"protocol"}) == port.StringAt({"protocol"});
    if (same) return NumberAt(former, "nodePort");
  }
  return 0;
}

}  // namespace

void CarryNodePorts(Value& service, const Value& old) {
  Array* const ports = PortsOf(service);
  if (ports == nullptr) return;
  std::set<std::int64_t> used = NodePortsOf(service);
  const bool drops =
      MayHaveNodePorts(old) && !MayHaveNodePorts(service) && used == NodePortsOf(old);
  for (Value& port : *ports) {
    if (drops) Erase(port, "nodePort");
    if (!MayHaveNodePorts(service) || NumberAt(port, "nodePort") != 0) continue;
    const std::int64_t former = FormerNodePort(port, old);
    if (former != 0 && used.insert(former).second) port.Make({"nodePort"}) = former;
  }
  const Value* const allocate = service.At({"spec", "allocateLoadBalancerNodePorts"});
  const Value* const before = old.At({"spec", "allocateLoadBalancerNodePorts"});
  const bool unused = service.StringAt({"spec", "type"}) != "LoadBalancer";
  if (unused && allocate != nullptr && before != nullptr && *allocate == *before) {
    Erase(*FindMember(service, {"spec"}), "allocateLoadBalancerNodePorts");
  }
}

void CollectNodePorts(const Value& service, std::set<std::int64_t>& taken) {
  for (const Value& port : PortsOf(service)) {
    if (const std::int64_t number = NumberAt(port, "nodePort"); number != 0) taken.insert(number);
  }
}

bool AssignNodePorts(Value& service, std::set<std::int64_t> taken) {
  Array* const ports = PortsOf(service);
  if (ports == nullptr || !GetsNodePorts(service)) return true;
  CollectNodePorts(service, taken);
  std::int64_t next = kFirst;
  for (Value& port : *ports) {
    if (NumberAt(port, "nodePort") != 0) continue;
    while (taken.contains(next)) ++next;
    if (next > kLast) return false;
    taken.insert(next);
    port.Make({"nodePort"}) = next;
  }
  return true;
}

}  // namespace sandbox
