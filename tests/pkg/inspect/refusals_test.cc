#include "pkg/inspect/refusals.h"

#include <catch2/catch.hpp>

#include "pkg/config/yaml.h"

namespace refusals_test {

using Texts = std::vector<std::string>;

json::Value Parsed(const std::string& text) {
  auto value = config::ParseYaml(text);
  INFO(text);
  REQUIRE(value.has_value());
  return *value;
}

json::Value PodWith(const std::string& resources, const std::string& more = "") {
  return Parsed("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n" +
                ("  - {name: c, resources: " + resources + "}\n") + more);
}

std::vector<inspect::Bounds> BoundsOf(const std::string& item) {
  const auto bounds = inspect::ParseBounds(Parsed(item));
  REQUIRE(bounds.has_value());
  return {*bounds};
}

TEST_CASE("refusals: requests above limits are refused", "[inspect]") {
  CHECK(inspect::RefusalsOf(PodWith("{requests: {cpu: 2}, limits: {cpu: 2}}"), {}).empty());
  CHECK(inspect::RefusalsOf(PodWith("{requests: {cpu: 2, memory: 1Gi}, limits: {cpu: 1}}"), {}) ==
        Texts{"spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or "
              "equal to cpu limit of 1"});
  CHECK(inspect::RefusalsOf(PodWith("{requests: {a.b/gpu: 1}, limits: {a.b/gpu: 2}}"), {}) ==
        Texts{"spec.containers[0].resources.requests: Invalid value: \"1\": must be equal to "
              "a.b/gpu limit of 2"});
}

TEST_CASE("refusals: resources that cannot be are refused", "[inspect]") {
  const auto of = [](const std::string& resources) {
    return inspect::RefusalsOf(PodWith(resources), {});
  };
  const std::string field = "spec.containers[0].resources";
  const std::string no_limit =
      field + ".limits: Required value: Limit must be set for non overcommitable resources";
  CHECK(of("{requests: {nvidia.com/gpu: 1}}") == Texts{no_limit});
  CHECK(of("{requests: {cpu: 1, hugepages-2Mi: 2Mi}}") == Texts{no_limit});
  CHECK(of("{limits: {nvidia.com/gpu: 500m}}") ==
        Texts{field + ".limits[nvidia.com/gpu]: Invalid value: \"500m\": must be an integer"});
  CHECK(of("{limits: {gpu: 1}}") ==
        Texts{field + ".limits[gpu]: Invalid value: \"gpu\": must be a standard resource for "
                      "containers"});
  CHECK(of("{limits: {requests.a.b/gpu: 1}}") ==
        Texts{field + ".limits[requests.a.b/gpu]: Invalid value: \"requests.a.b/gpu\": doesn't "
                      "follow extended resource name standard"});
  CHECK(of("{limits: {hugepages-2Mi: 2Mi}}") ==
        Texts{field + ": Forbidden: HugePages require cpu or memory"});
  CHECK(of("{limits: {nvidia.com/gpu: 1, cpu: 500m, hugepages-2Mi: 2Mi, ephemeral-storage: 1Gi}, "
           "requests: {memory: 1Gi, node.kubernetes.io/x: 500m}}")
            .empty());
}

TEST_CASE("refusals: a quota has names of Kubernetes, or with a domain", "[inspect]") {
  const auto of = [](const std::string& name) {
    return inspect::RefusalsOf(
        Parsed("{apiVersion: v1, kind: ResourceQuota, spec: {hard: {" + name + ": 1}}}"), {});
  };
  for (const char* name : {"pods", "requests.cpu", "memory", "services.nodeports", "hugepages-2Mi",
                           "requests.hugepages-1Gi", "count/jobs.batch", "requests.a.b/gpu",
                           "gold.storageclass.storage.k8s.io/requests.storage"}) {
    CHECK(of(name).empty());
  }
  CHECK(of("request.cpu") == Texts{"spec.hard[request.cpu]: Invalid value: \"request.cpu\": must "
                                   "be a standard resource for quotas"});
  for (const char* name : {"pod", "serviceaccounts", "storage"}) CHECK(of(name).size() == 1);
}

TEST_CASE("refusals: pod-level resources below those of the containers are refused", "[inspect]") {
  CHECK(inspect::RefusalsOf(
            PodWith("{requests: {memory: 3Gi}}", "  resources: {requests: {memory: 1Gi}}\n"), {}) ==
        Texts{"spec.resources.requests[memory]: Invalid value: \"1Gi\": must be greater than or "
              "equal to aggregate container requests of 3Gi"});
  CHECK(
      inspect::RefusalsOf(PodWith("{limits: {cpu: 3}}", "  resources: {limits: {cpu: 2}}\n"), {}) ==
      Texts{"spec.resources.containers[0][cpu].limits: Invalid value: \"3\": must be less than "
            "or equal to pod limits of 2"});
}

TEST_CASE("refusals: a LimitRange refuses in the server's words", "[inspect]") {
  struct Row {
    const char* item;
    const char* resources;
    Texts texts;
  };
  const Row row = GENERATE(
      Row{"{type: Container, min: {cpu: 100m}}", "{requests: {cpu: 100m}}", {}},
      Row{"{type: Container, min: {cpu: 100m}}",
          "{requests: {cpu: 50m}}",
          {"minimum cpu usage per Container is 100m, but request is 50m"}},
      Row{"{type: Container, min: {cpu: 100m}}",
          "{}",
          {"minimum cpu usage per Container is 100m.  No request is specified"}},
      Row{"{type: Container, max: {cpu: 2}}", "{limits: {cpu: 2}}", {}},
      Row{"{type: Container, max: {cpu: 2}}",
          "{limits: {cpu: 3}}",
          {"maximum cpu usage per Container is 2, but limit is 3"}},
      Row{"{type: Pod, max: {memory: 1Gi}}",
          "{requests: {memory: 1Gi}}",
          {"maximum memory usage per Pod is 1Gi.  No limit is specified"}},
      Row{"{type: Container, maxLimitRequestRatio: {cpu: 2}}",
          "{requests: {cpu: 500m}, limits: {cpu: 1}}",
          {}},
      Row{"{type: Container, maxLimitRequestRatio: {cpu: 2}}",
          "{requests: {cpu: 250m}, limits: {cpu: 1}}",
          {"cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000"}},
      Row{"{type: Container, maxLimitRequestRatio: {cpu: 2}}",
          "{limits: {cpu: 1}}",
          {"cpu max limit to request ratio per Container is 2, but no request is specified or "
           "request is 0"}},
      Row{"{type: PersistentVolumeClaim, max: {storage: 1Gi}}", "{}", {}});
  CAPTURE(row.item, row.resources);
  CHECK(inspect::RefusalsOf(PodWith(row.resources), BoundsOf(row.item)) == row.texts);
}

TEST_CASE("refusals: a pod is measured by the sum of its containers", "[inspect]") {
  const auto pod = PodWith("{limits: {cpu: 1}, requests: {cpu: 1}}",
                           "  - {name: d, resources: {limits: {cpu: 2}, requests: {cpu: 2}}}\n"
                           "  overhead: {cpu: 4}\n");
  CHECK(inspect::RefusalsOf(pod, BoundsOf("{type: Pod, max: {cpu: 3}}")).empty());
  CHECK(inspect::RefusalsOf(pod, BoundsOf("{type: Pod, max: {cpu: 2}}")) ==
        Texts{"maximum cpu usage per Pod is 2, but limit is 3"});
}

TEST_CASE("refusals: a claim is measured by what it requests", "[inspect]") {
  const auto claim = Parsed(
      "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: p}\n"
      "spec: {resources: {requests: {storage: 5Gi}}}\n");
  CHECK(
      inspect::RefusalsOf(claim, BoundsOf("{type: PersistentVolumeClaim, max: {storage: 1Gi}}")) ==
      Texts{"maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 5Gi"});
  CHECK(
      inspect::RefusalsOf(claim, BoundsOf("{type: PersistentVolumeClaim, min: {storage: 9Gi}}")) ==
      Texts{"minimum storage usage per PersistentVolumeClaim is 9Gi, but request is 5Gi"});
}

}  // namespace refusals_test
