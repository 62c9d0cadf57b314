// The attributes that scopes use, with a test for each rule of kubernetes v1.36.3,
// pkg/quota/v1/evaluator/core/pods.go.

#include "pkg/quota/core/pod_scopes.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/pkg/quota/quota_testing.h"

namespace quota::core::pod_scopes_test {
namespace {

std::vector<Attribute> AttributesOf(const std::string& pod, Rules rules = {}) {
  const auto resources = ParsePodResources(Json(pod), {}, rules);
  REQUIRE(resources.has_value());
  const auto attributes = PodAttributes(Json(pod), *resources);
  REQUIRE(attributes.has_value());
  return *attributes;
}

bool Has(const std::string& pod, const std::string& scope, const std::string& value = "") {
  return std::ranges::count(AttributesOf(pod), Attribute(scope, value)) == 1;
}

TEST_CASE("pods: since 1.37 pod-level resources without a name do not hide the containers",
          "[quota][core]") {
  const auto class_of = [](const std::string& pod_level, Rules rules) {
    const std::vector<Attribute> attributes =
        AttributesOf(R"({"spec":{"resources":)" + pod_level +
                         R"(,"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]}})",
                     rules);
    return std::ranges::count(attributes, Attribute("BestEffort", "")) == 1 ? "BestEffort"
                                                                            : "NotBestEffort";
  };
  for (const char* empty : {"{}", R"({"requests":{}})", R"({"limits":{"x.io/y":"1"}})"}) {
    INFO(empty);
    CHECK(class_of(empty, RulesOf({1, 36})) == std::string("BestEffort"));
    CHECK(class_of(empty, RulesOf({1, 37})) == std::string("NotBestEffort"));
  }
  for (const char* named :
       {R"({"requests":{"hugepages-2Mi":"2Mi"}})", R"({"limits":{"cpu":"0"}})"}) {
    INFO(named);
    for (const Rules rules : {RulesOf({1, 36}), RulesOf({1, 37})}) {
      CHECK(class_of(named, rules) == std::string("BestEffort"));
    }
  }
}

TEST_CASE("pods: a pod with an active deadline is Terminating", "[quota][core]") {
  const std::string with = R"({"spec":{"activeDeadlineSeconds":0}})";
  CHECK(Has(with, "Terminating"));
  CHECK_FALSE(Has(with, "NotTerminating"));
  for (const std::string without :
       {"{}", R"({"spec":{"activeDeadlineSeconds":null}})",
        R"({"spec":{"activeDeadlineSeconds":-1}})",
        R"({"metadata":{"deletionTimestamp":"2024-05-01T10:00:00Z"}})"}) {
    CHECK(Has(without, "NotTerminating"));
    CHECK_FALSE(Has(without, "Terminating"));
  }
}

TEST_CASE("pods: the stored QoS class decides, else it is computed", "[quota][core]") {
  const auto with = [](const std::string& resources, const std::string& rest = "") {
    return R"({"spec":{)" + rest + R"("containers":[{"name":"a","resources":)" + resources + "}]}}";
  };
  for (const std::string& pod :
       {std::string("{}"), with("{}"), with(R"({"requests":{"cpu":"0"}})"),
        with(R"({"requests":{"ephemeral-storage":"1Gi","x.io/y":"1","hugepages-2Mi":"2Mi"}})"),
        std::string(R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]},
                        "status":{"qosClass":"BestEffort"}})"),
        // If the pod has resources of its own, only those count.
        with(R"({"requests":{"cpu":"1"}})", R"("resources":{},)"),
        with(R"({"requests":{"cpu":"1"}})",
             R"("resources":{"requests":{"hugepages-2Mi":"2Mi"}},)")}) {
    INFO(pod);
    CHECK(Has(pod, "BestEffort"));
    CHECK_FALSE(Has(pod, "NotBestEffort"));
  }
  for (const std::string& pod :
       {with(R"({"requests":{"cpu":"1m"}})"), with(R"({"limits":{"memory":"1"}})"),
        with("{}", R"("resources":{"limits":{"cpu":"1"}},)"),
        with("{}", R"("initContainers":[{"name":"i","resources":{"requests":{"memory":"1"}}}],)"),
        std::string(R"({"status":{"qosClass":"Burstable"}})")}) {
    INFO(pod);
    CHECK(Has(pod, "NotBestEffort"));
    CHECK_FALSE(Has(pod, "BestEffort"));
  }
}

TEST_CASE("pods: the priority class is an attribute with its name", "[quota][core]") {
  CHECK(Has(R"({"spec":{"priorityClassName":"high"}})", "PriorityClass", "high"));
  CHECK_FALSE(Has(R"({"spec":{"priorityClassName":""}})", "PriorityClass"));
  CHECK_FALSE(Has("{}", "PriorityClass"));
}

TEST_CASE("pods: affinity crosses namespaces by a list or any selector", "[quota][core]") {
  const auto with = [](const std::string& kind, const std::string& when, const std::string& term) {
    const std::string whole = when == "required" ? term : R"({"podAffinityTerm":)" + term + "}";
    return R"({"spec":{"affinity":{")" + kind + R"(":{")" + when +
           R"(DuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z"},)" + whole + "]}}}}";
  };
  for (const std::string kind : {"podAffinity", "podAntiAffinity"}) {
    for (const std::string when : {"required", "preferred"}) {
      INFO(kind << " " << when);
      const std::string scope = "CrossNamespacePodAffinity";
      CHECK(Has(with(kind, when, R"({"namespaces":["b"]})"), scope));
      CHECK(Has(with(kind, when, R"({"namespaceSelector":{}})"), scope));
      CHECK_FALSE(Has(with(kind, when, R"({"namespaces":[],"namespaceSelector":null})"), scope));
      CHECK_FALSE(Has(with(kind, when, R"({"labelSelector":{}})"), scope));
    }
  }
}

}  // namespace
}  // namespace quota::core::pod_scopes_test
