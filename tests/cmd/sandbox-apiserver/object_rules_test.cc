#include "cmd/sandbox-apiserver/object_rules.h"

#include <catch2/catch.hpp>

#include "tests/cmd/sandbox-apiserver/core_fixture.h"

namespace sandbox::object_rules_test {
namespace {

using json::Value;

class ObjectRulesTest : public CoreFixture {
 protected:
  std::string Refusal(std::string_view resource, std::string_view body) {
    auto made = Make(resource, body);
    return made ? "" : made.error().message;
  }
};

TEST_CASE_METHOD(ObjectRulesTest, "pod: defaults make quota arithmetic real", "[sandbox]") {
  auto made = Make("pods", R"({"metadata":{"name":"p"},"status":{"phase":"Running"},"spec":{
      "containers":[{"name":"c","image":"r:5000/i","resources":{"limits":{"cpu":"0.5",
      "memory":"128Mi"},"requests":{"memory":"1e6"}},"ports":[{"containerPort":80}]}]}})");
  REQUIRE(made);
  const Value& pod = *made->object;
  const Value& container = (*pod.At({"spec", "containers"})->AsArray())[0];
  CHECK(container.StringAt({"resources", "requests", "cpu"}) == "500m");
  CHECK(container.StringAt({"resources", "limits", "cpu"}) == "500m");
  CHECK(container.StringAt({"resources", "requests", "memory"}) == "1e6");
  CHECK(container.StringAt({"imagePullPolicy"}) == "Always");
  CHECK(pod.StringAt({"spec", "restartPolicy"}) == "Always");
  CHECK(pod.At({"spec", "terminationGracePeriodSeconds"})->AsInt64() == 30);
  CHECK(pod.StringAt({"status", "phase"}) == "Pending");
  CHECK(pod.StringAt({"status", "qosClass"}) == "Burstable");
}

TEST_CASE("pod: the quality of service class is computed", "[sandbox]") {
  const auto qos = [](std::string_view resources) {
    Value pod = J(R"({"spec":{"containers":[{"name":"c"}]}})");
    (*pod.Make({"spec", "containers"}).AsArray())[0].Make({"resources"}) = J(resources);
    return QosClass(pod);
  };
  CHECK(qos("{}") == "BestEffort");
  CHECK(qos(R"({"requests":{"cpu":"0"}})") == "BestEffort");
  CHECK(qos(R"({"requests":{"cpu":"1"}})") == "Burstable");
  CHECK(qos(R"({"limits":{"cpu":"1"},"requests":{"cpu":"1"}})") == "Burstable");
  CHECK(qos(R"({"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1","memory":"1Gi"}})") ==
        "Guaranteed");
}

TEST_CASE_METHOD(ObjectRulesTest, "pod: errors have the path of the field", "[sandbox]") {
  CHECK(Refusal("pods", R"({"metadata":{"name":"p"}})") ==
        "Pod \"p\" is invalid: spec.containers: Required value");
  CHECK(
      Refusal("pods", R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i",
            "resources":{"requests":{"cpu":"2"},"limits":{"cpu":"1"}}}]}})") ==
      "Pod \"p\" is invalid: spec.containers[0].resources.requests: Invalid value: \"2\": must be "
      "less than or equal to cpu limit of 1");
  CHECK(Refusal("pods", R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"},
            {"name":"c"}]}})") ==
        "Pod \"p\" is invalid: [spec.containers[1].name: Duplicate value: \"c\", "
        "spec.containers[1].image: Required value]");
  CHECK(Refusal("pods", R"({"metadata":{"name":"Bad_Name"},"spec":{"containers":[{"name":"c",
            "image":"i"}]}})")
            .starts_with("Pod \"Bad_Name\" is invalid: metadata.name: Invalid value: \"Bad_Name\": "
                         "a lowercase RFC 1123 subdomain must consist of"));
  CHECK(Refusal("pods", R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i",
            "resources":{"requests":{"cpu":"much"}}}]}})") ==
        "Pod in version \"v1\" cannot be handled as a Pod: quantities must match the regular "
        "expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

TEST_CASE_METHOD(ObjectRulesTest, "pod: a stored spec changes only in few places", "[sandbox]") {
  REQUIRE(MakePod("p"));
  const auto patch = [&](std::string_view body, const char* sub = "") {
    return store_.Patch(At("pods", "p", sub), {PatchType::kStrategic, J(body)});
  };
  CHECK(patch(R"({"spec":{"containers":[{"name":"c","image":"i:2"}]}})"));
  CHECK(patch(R"({"spec":{"activeDeadlineSeconds":60}})"));
  auto refused =
      patch(R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}})");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == 422);
  auto resized = patch(
      R"({"spec":{"hostname":"x","containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}})",
      "resize");
  REQUIRE(resized);
  CHECK((*resized->object->At({"spec", "containers"})->AsArray())[0].StringAt(
            {"resources", "requests", "cpu"}) == "1");
  CHECK(resized->object->At({"spec", "hostname"}) == nullptr);
}

TEST_CASE_METHOD(ObjectRulesTest, "services, claims and secrets get their defaults", "[sandbox]") {
  auto service = Make("services", R"({"metadata":{"name":"s"},"spec":{"ports":[{"port":80}]}})");
  REQUIRE(service);
  CHECK(service->object->StringAt({"spec", "type"}) == "ClusterIP");
  CHECK((*service->object->At({"spec", "ports"})->AsArray())[0] ==
        J(R"({"port":80,"protocol":"TCP","targetPort":80})"));
  CHECK(Refusal("services", R"({"metadata":{"name":"t"},"spec":{}})") ==
        "Service \"t\" is invalid: spec.ports: Required value");

  auto claim = Make("persistentvolumeclaims", R"({"metadata":{"name":"c"},"spec":{
      "accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1024Mi"}}}})");
  REQUIRE(claim);
  CHECK(claim->object->StringAt({"status", "phase"}) == "Pending");
  CHECK(claim->object->StringAt({"spec", "resources", "requests", "storage"}) == "1Gi");

  auto secret = Make("secrets", R"({"metadata":{"name":"s"},"stringData":{"a":"hi"}})");
  REQUIRE(secret);
  CHECK(secret->object->StringAt({"data", "a"}) == "aGk=");
  CHECK(secret->object->At({"stringData"}) == nullptr);
  CHECK(secret->object->StringAt({"type"}) == "Opaque");
}

TEST_CASE_METHOD(ObjectRulesTest, "metadata: labels, owners and scope are checked", "[sandbox]") {
  CHECK(Refusal("configmaps", R"({"metadata":{"name":"a","labels":{"x":"not ok"}}})")
            .starts_with("ConfigMap \"a\" is invalid: metadata.labels: Invalid value: \"not ok\": "
                         "a valid label must be"));
  CHECK(
      Refusal("configmaps", R"({"metadata":{"name":"a","ownerReferences":[{"apiVersion":"v1",
            "kind":"Pod","name":"p"}]}})") ==
      "ConfigMap \"a\" is invalid: metadata.ownerReferences.uid: Invalid value: \"\": must not be "
      "empty");
  CHECK(
      Refusal("namespaces", R"({"metadata":{"name":"a.b"}})") ==
      "Namespace \"a.b\" is invalid: metadata.name: Invalid value: \"a.b\": must not contain dots");
  CHECK(Refusal("namespaces", R"({"metadata":{"name":"A"}})")
            .starts_with("Namespace \"A\" is invalid: metadata.name: Invalid value: \"A\": a "
                         "lowercase RFC 1123 label"));
}

}  // namespace
}  // namespace sandbox::object_rules_test
