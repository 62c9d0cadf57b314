// Fixtures of kubernetes v1.36.3, pkg/quota/v1/evaluator/core/services_test.go, and a test for each
// rule of services.go.

#include <string>

#include "pkg/quota/evaluator.h"
#include "tests/pkg/quota/guard_testing.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::core::services {

Evaluator MakeEvaluator();

namespace {

TEST_CASE(
    "services: the type decides load balancers and node ports, and all four names are present",
    "[quota][core]") {
  struct Row {
    std::string spec;
    std::string load_balancers;
    std::string node_ports;
  };
  const Row rows[] = {
      {R"({})", "0", "0"},
      {R"({"ports":[{"port":80}]})", "0", "0"},
      {R"({"type":"ClusterIP","ports":[{"port":80},{"port":81}]})", "0", "0"},
      {R"({"type":"ClusterIP","ports":[{"port":80,"nodePort":30080}]})", "0", "0"},
      {R"({"type":"ExternalName","externalName":"x.example.com"})", "0", "0"},
      {R"({"type":"NodePort","ports":[{"port":80},{"port":81,"nodePort":30081}]})", "0", "2"},
      {R"({"type":"NodePort","ports":null})", "0", "0"},
      // The field is only for load balancers.
      {R"({"type":"NodePort","allocateLoadBalancerNodePorts":false,"ports":[{"port":80}]})", "0",
       "1"},
      {R"({"type":"LoadBalancer"})", "1", "0"},
      {R"({"type":"LoadBalancer","ports":[{"port":80},{"port":81}]})", "1", "2"},
      {R"({"type":"LoadBalancer","allocateLoadBalancerNodePorts":null,"ports":[{"port":80}]})", "1",
       "1"},
      {R"({"type":"LoadBalancer","allocateLoadBalancerNodePorts":true,"healthCheckNodePort":30000,
           "ports":[{"port":80,"nodePort":30080}]})",
       "1", "1"},
      {R"({"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,
           "ports":[{"port":80},{"port":81}]})",
       "1", "0"},
      {R"({"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,
           "ports":[{"port":80,"nodePort":30080},{"port":81,"nodePort":30081},
                    {"port":82,"nodePort":0}]})",
       "1", "2"},
  };
  const Evaluator evaluator = MakeEvaluator();
  for (const Row& row : rows) {
    INFO(row.spec);
    const auto facts = evaluator.facts_of(Json(R"({"spec":)" + row.spec + "}"), {});
    REQUIRE(facts.has_value());
    CHECK(facts->now == Using({{"services", "1"},
                               {"count/services", "1"},
                               {"services.loadbalancers", row.load_balancers},
                               {"services.nodeports", row.node_ports}}));
    CHECK_FALSE(facts->later.has_value());
  }
}

TEST_CASE("services: invalid ports are an error, not zero", "[quota][core]") {
  const auto facts =
      MakeEvaluator().facts_of(Json(R"({"spec":{"type":"NodePort","ports":7}})"), {});
  REQUIRE_FALSE(facts.has_value());
  CHECK(facts.error().code == base::ErrorCode::kMalformed);
  CHECK(facts.error().message == "spec.ports: must be a list");
}

const Restated kUpdateCondition = {
    "object.spec.?type.orValue('') in ['LoadBalancer', 'NodePort'] && ("
    "object.spec.?type != oldObject.spec.?type || object.spec.?ports != oldObject.spec.?ports || "
    "object.spec.?allocateLoadBalancerNodePorts != oldObject.spec.?allocateLoadBalancerNodePorts)",
    [](const json::Value& object, const json::Value& old) {
      const std::string_view type = object.StringAt({"spec", "type"});
      return (type == "LoadBalancer" || type == "NodePort") &&
             (Differ(object, old, {"spec", "type"}) || Differ(object, old, {"spec", "ports"}) ||
              Differ(object, old, {"spec", "allocateLoadBalancerNodePorts"}));
    }};

json::Value DrawService(Drawer& draw) {
  json::Value service = Json(R"({"metadata":{},"spec":{}})");
  draw.Put(service, {"metadata", "labels"}, {"", R"({"a":"b"})"});
  draw.Put(service, {"spec", "type"},
           {"", R"("ClusterIP")", R"("NodePort")", R"("LoadBalancer")", R"("ExternalName")"});
  draw.Put(service, {"spec", "allocateLoadBalancerNodePorts"}, {"", "true", "false"});
  draw.Put(service, {"spec", "ports"},
           {"", "[]", R"([{"port":80}])", R"([{"port":80,"nodePort":30080}])",
            R"([{"port":80},{"port":81,"nodePort":30081}])"});
  return service;
}

TEST_CASE("services: every update that needs more meets the guard's condition", "[quota][core]") {
  NothingEscapes(MakeEvaluator(), kUpdateCondition, DrawService);
}

}  // namespace
}  // namespace quota::core::services
