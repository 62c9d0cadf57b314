#include "pkg/inspect/admitted.h"

#include <catch2/catch.hpp>

#include "pkg/config/yaml.h"

namespace admitted_test {

using inspect::Defaults;

json::Value Parsed(const std::string& text) {
  auto value = config::ParseYaml(text);
  REQUIRE(value.has_value());
  return *value;
}

json::Value PodWith(const std::string& resources, const std::string& more = "") {
  return Parsed("metadata: {name: p}\nspec:\n  containers:\n  - {name: c, resources: " + resources +
                "}\n" + more);
}

std::string Resources(const base::Result<json::Value>& pod) {
  REQUIRE(pod.has_value());
  const json::Value* containers = pod->At({"spec", "containers"});
  return json::Write(*containers->AsArray()->front().At({"resources"}));
}

Defaults FromRange(const std::string& items) {
  Defaults defaults;
  REQUIRE(inspect::AddLimitRange(Parsed("spec: {limits: [" + items + "]}"), defaults).has_value());
  return defaults;
}

TEST_CASE("admitted: a limit is the default of the request", "[inspect]") {
  CHECK(Resources(inspect::AdmittedPod(
            PodWith("{limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 500m}}"), {})) ==
        R"({"limits":{"cpu":1,"memory":"1Gi"},"requests":{"cpu":"500m","memory":"1Gi"}})");
  CHECK(Resources(inspect::AdmittedPod(PodWith("{requests: {cpu: 0.0001}}"), {})) ==
        R"({"requests":{"cpu":"1m"}})");
}

TEST_CASE("admitted: an invalid amount is named by its path", "[inspect]") {
  const auto pod = inspect::AdmittedPod(PodWith("{requests: {cpu: one}}"), {});
  REQUIRE_FALSE(pod.has_value());
  CHECK_THAT(pod.error().message,
             Catch::Matchers::StartsWith("spec.containers[0].resources.requests[cpu]: quantities"));
}

TEST_CASE("admitted: a LimitRange fills in what is missing", "[inspect]") {
  const Defaults defaults =
      FromRange("{type: Container, default: {cpu: 1}, defaultRequest: {cpu: 250m, memory: 64Mi}}");
  CHECK(Resources(inspect::AdmittedPod(PodWith("{}"), defaults)) ==
        R"({"limits":{"cpu":1},"requests":{"cpu":"250m","memory":"64Mi"}})");
  CHECK(Resources(inspect::AdmittedPod(PodWith("{limits: {cpu: 2}}"), defaults)) ==
        R"({"limits":{"cpu":2},"requests":{"cpu":2,"memory":"64Mi"}})");
  CHECK(Resources(inspect::AdmittedPod(PodWith("{}"), FromRange("{type: Pod, max: {cpu: 1}}"))) ==
        "{}");
}

TEST_CASE("admitted: defaults of the API are applied before the LimitRange", "[inspect]") {
  const Defaults of_max = FromRange("{type: Container, max: {cpu: 2}}");
  CHECK(json::Write(of_max.container_limits) == R"({"cpu":2})");
  CHECK(json::Write(of_max.container_requests) == R"({"cpu":2})");
  const Defaults of_min = FromRange("{type: Container, min: {cpu: 100m}}");
  CHECK(json::Write(of_min.container_limits) == "{}");
  CHECK(json::Write(of_min.container_requests) == R"({"cpu":"100m"})");
}

TEST_CASE("admitted: pod-level requests default to those of its containers, then to its limits",
          "[inspect]") {
  const auto pod = inspect::AdmittedPod(
      PodWith("{requests: {cpu: 300m}}", "  resources: {limits: {cpu: 1, memory: 1Gi}}\n"), {});
  REQUIRE(pod.has_value());
  CHECK(json::Write(*pod->At({"spec", "resources"})) ==
        R"({"limits":{"cpu":1,"memory":"1Gi"},"requests":{"cpu":"300m","memory":"1Gi"}})");
}

TEST_CASE("admitted: default classes and overhead are filled in", "[inspect]") {
  Defaults defaults{.priority_class = "standard"};
  inspect::AddRuntimeClass(Parsed("metadata: {name: kata}\noverhead: {podFixed: {cpu: 250m}}\n"),
                           defaults);
  const auto pod = inspect::AdmittedPod(PodWith("{}", "  runtimeClassName: kata\n"), defaults);
  CHECK(pod->StringAt({"spec", "priorityClassName"}) == "standard");
  CHECK(pod->StringAt({"spec", "overhead", "cpu"}) == "250m");
  const auto chosen = inspect::AdmittedPod(PodWith("{}", "  priorityClassName: high\n"), defaults);
  CHECK(chosen->StringAt({"spec", "priorityClassName"}) == "high");
  CHECK(chosen->At({"spec", "overhead"}) == nullptr);
}

TEST_CASE("admitted: a pod of a class that does not exist is refused, if all are known",
          "[inspect]") {
  const json::Value pod = Parsed(
      "{apiVersion: v1, kind: Pod, spec: {priorityClassName: high, runtimeClassName: kata, "
      "containers: [{name: c, resources: {requests: {cpu: 2}, limits: {cpu: 1}}}]}}");
  const std::string contradiction =
      "spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or equal to "
      "cpu limit of 1";
  const auto refusals = [&](const Defaults& defaults) {
    return inspect::RefusalsAtAdmission(pod, defaults);
  };
  using Texts = std::vector<std::string>;
  CHECK(refusals({}) == Texts{contradiction});
  Defaults defaults;
  defaults.priority_classes.emplace();
  CHECK(refusals(defaults) == Texts{"no PriorityClass with name high was found"});
  defaults.runtime_classes.emplace();
  CHECK(refusals(defaults) == Texts{"no PriorityClass with name high was found",
                                    "pod rejected: RuntimeClass \"kata\" not found"});
  defaults.priority_classes->insert("high");
  defaults.runtime_classes->insert("kata");
  CHECK(refusals(defaults) == Texts{contradiction});
}

TEST_CASE("admitted: a pod whose overhead is not that of its RuntimeClass is refused",
          "[inspect]") {
  Defaults defaults;
  inspect::AddRuntimeClass(Parsed("metadata: {name: kata}\noverhead: {podFixed: {cpu: 250m}}\n"),
                           defaults);
  inspect::AddRuntimeClass(Parsed("metadata: {name: runc}\n"), defaults);
  const auto refusals = [&](const std::string& fields) {
    json::Value pod = PodWith("{}", fields);
    pod.Make({"apiVersion"}) = "v1";
    pod.Make({"kind"}) = "Pod";
    const auto admitted = inspect::AdmittedPod(std::move(pod), defaults);
    REQUIRE(admitted.has_value());
    return inspect::RefusalsAtAdmission(*admitted, defaults);
  };
  using Texts = std::vector<std::string>;
  const Texts undefined{
      "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"};
  CHECK(refusals("  overhead: {cpu: 250m}\n") == undefined);
  CHECK(refusals("  overhead: {}\n") == undefined);
  CHECK(refusals("  overhead: null\n").empty());
  CHECK(refusals("  runtimeClassName: runc\n  overhead: {cpu: 250m}\n") == undefined);
  CHECK(refusals("  runtimeClassName: kata\n  overhead: {cpu: 1}\n") ==
        Texts{"pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"});
  CHECK(refusals("  runtimeClassName: kata\n  overhead: {cpu: 250m, memory: 1Gi}\n").size() == 1);
  CHECK(refusals("  runtimeClassName: kata\n  overhead: {cpu: '0.25'}\n").empty());
  CHECK(refusals("  runtimeClassName: kata\n").empty());
  CHECK(refusals("  runtimeClassName: runc\n").empty());
  CHECK(refusals("  runtimeClassName: kata\n  overhead: {}\n").empty());
  // An empty one is filled in, and a controller's pods have none.
  const auto filled =
      inspect::AdmittedPod(PodWith("{}", "  runtimeClassName: kata\n  overhead: {}\n"), defaults);
  CHECK(filled->StringAt({"spec", "overhead", "cpu"}) == "250m");
  const json::Value made =
      inspect::PodFromTemplate(Parsed("spec: {overhead: {}, containers: [{name: c}]}\n"), "", "p");
  CHECK(inspect::RefusalsAtAdmission(made, defaults).empty());
  SECTION("which is unknown if the class is") {
    CHECK(refusals("  runtimeClassName: other\n  overhead: {cpu: 1}\n").empty());
  }
  SECTION("there is no class without a name") {
    CHECK(refusals("  runtimeClassName: ''\n") ==
          Texts{"pod rejected: RuntimeClass \"\" not found"});
  }
  SECTION("the server validates the object before") {
    CHECK(refusals("  resources: {requests: {cpu: 2}, limits: {cpu: 1}}\n  overhead: {cpu: 1}\n") !=
          undefined);
  }
}

TEST_CASE("admitted: the plugin's choice among several default classes is used", "[inspect]") {
  CHECK(inspect::DefaultPriorityClass(
            {Parsed("{metadata: {name: a}, globalDefault: true, value: 10}"),
             Parsed("{metadata: {name: b}, globalDefault: true, value: 5}"),
             Parsed("{metadata: {name: c}, value: 1}")}) == "b");
  const std::string is_default =
      "annotations: {storageclass.kubernetes.io/is-default-class: \"true\"}";
  CHECK(inspect::DefaultStorageClass(
            {Parsed("{metadata: {name: old, creationTimestamp: \"2025-01-01T00:00:00Z\", " +
                    is_default + "}}"),
             Parsed("{metadata: {name: new, creationTimestamp: \"2026-01-01T00:00:00Z\", " +
                    is_default + "}}"),
             Parsed("{metadata: {name: other}}")}) == "new");
  CHECK(inspect::DefaultStorageClass(
            {Parsed("{metadata: {name: beta, annotations: "
                    "{storageclass.beta.kubernetes.io/is-default-class: \"true\"}}}"),
             Parsed("{metadata: {name: other}}")}) == "beta");
  const Defaults defaults{.storage_class = "new"};
  CHECK(
      inspect::AdmittedClaim(Parsed("spec: {}"), defaults).StringAt({"spec", "storageClassName"}) ==
      "new");
  CHECK(inspect::AdmittedClaim(Parsed("spec: {storageClassName: \"\"}"), defaults)
            .StringAt({"spec", "storageClassName"}) == "");
}

}  // namespace admitted_test
