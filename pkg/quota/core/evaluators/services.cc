// Services: counted, and by type also measured by their load balancers and node ports (kubernetes
// v1.36.3, pkg/quota/v1/evaluator/core/services.go). The request counts, not the allocation: a new
// service often has no port numbers yet.

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "pkg/quota/object_counter.h"

namespace quota::core::services {
namespace {

constexpr const char* kLoadBalancers = "services.loadbalancers";
constexpr const char* kNodePorts = "services.nodeports";

// Other types use neither load balancers nor node ports.
constexpr const char* kCanNeedMore =
    "object.spec.?type.orValue('') in ['LoadBalancer', 'NodePort'] && ("
    "object.spec.?type != oldObject.spec.?type || "
    "object.spec.?ports != oldObject.spec.?ports || "
    "object.spec.?allocateLoadBalancerNodePorts != oldObject.spec.?allocateLoadBalancerNodePorts)";

bool HasNodePort(const json::Value& port) {
  const json::Value* number = port.At({"nodePort"});
  return number != nullptr && number->AsInt64().value_or(0) != 0;
}

// A load balancer can do without node ports: then only explicitly named ones count.
bool TakesNamedPortsOnly(const json::Value& service) {
  const json::Value* allocate = service.At({"spec", "allocateLoadBalancerNodePorts"});
  return allocate != nullptr && allocate->AsBool() == false;
}

base::Result<ObjectFacts> FactsOf(const json::Value& service, const ReadOptions& /*options*/) {
  static const json::Array no_ports;
  const json::Value* list = service.At({"spec", "ports"});
  const bool none = list == nullptr || list->IsNull();
  if (!none && !list->IsArray()) {
    return base::Error{.code = base::ErrorCode::kMalformed,
                       .message = "spec.ports: must be a list"};
  }
  const json::Array& ports = none ? no_ports : *list->AsArray();
  const std::string_view type = service.StringAt({"spec", "type"});
  const bool load_balancer = type == "LoadBalancer";
  std::int64_t node_ports = 0;
  if (load_balancer && TakesNamedPortsOnly(service)) {
    node_ports = std::ranges::count_if(ports, HasNodePort);
  } else if (load_balancer || type == "NodePort") {
    node_ports = std::ssize(ports);
  }
  ObjectFacts facts;
  facts.now.usage = {{"services", Quantity::FromInt(1)},
                     {"count/services", Quantity::FromInt(1)},
                     {kLoadBalancers, Quantity::FromInt(load_balancer ? 1 : 0)},
                     {kNodePorts, Quantity::FromInt(node_ports)}};
  return facts;
}

}  // namespace

Evaluator MakeEvaluator() {
  Evaluator evaluator =
      CountObjects({.group = "", .resource = "services"}, {"services", kLoadBalancers, kNodePorts});
  evaluator.fields = {"spec.type", "spec.allocateLoadBalancerNodePorts", "spec.ports.nodePort"};
  evaluator.facts_of = FactsOf;
  evaluator.guard.updates = true;
  evaluator.guard.update_condition = kCanNeedMore;
  return evaluator;
}

}  // namespace quota::core::services
