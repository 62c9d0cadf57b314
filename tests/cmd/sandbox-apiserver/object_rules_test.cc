#include "cmd/sandbox-apiserver/object_rules.h"

#include <catch2/catch.hpp>

#include "cmd/sandbox-apiserver/pod_rules.h"
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

TEST_CASE_METHOD(ObjectRulesTest, "pod: a malformed quantity is a bad request", "[sandbox]") {
  auto made =
      Make("pods", R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i",
      "resources":{"requests":{"cpu":"much"}}}]}})");
  REQUIRE_FALSE(made);
  CHECK(made.error().code == 400);
}

TEST_CASE_METHOD(ObjectRulesTest, "pod: /resize changes the resources, and nothing else",
                 "[sandbox]") {
  REQUIRE(MakePod("p"));
  auto resized = store_.Patch(
      At("pods", "p", "resize"),
      {PatchType::kStrategic,
       J(R"({"spec":{"hostname":"x","containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}})")});
  REQUIRE(resized);
  CHECK((*resized->object->At({"spec", "containers"})->AsArray())[0].StringAt(
            {"resources", "requests", "cpu"}) == "1");
  CHECK(resized->object->At({"spec", "hostname"}) == nullptr);
}

TEST_CASE_METHOD(ObjectRulesTest, "quota: quantities are rounded up and canonical", "[sandbox]") {
  auto made = Make("resourcequotas", R"({"metadata":{"name":"q"},"spec":{"hard":
      {"cpu":"1.0001","memory":"1024Mi","requests.cpu":2}}})");
  REQUIRE(made);
  CHECK(*made->object->At({"spec", "hard"}) ==
        J(R"({"cpu":"1001m","memory":"1Gi","requests.cpu":"2"})"));
  auto bad = Make("resourcequotas", R"({"metadata":{"name":"r"},"spec":{"hard":{"cpu":"x"}}})");
  REQUIRE_FALSE(bad);
  CHECK(bad.error().code == 400);
}

TEST_CASE_METHOD(ObjectRulesTest, "services, claims and secrets get their defaults", "[sandbox]") {
  auto service = Make("services", R"({"metadata":{"name":"s"},"spec":{"ports":[{"port":80}]}})");
  REQUIRE(service);
  CHECK(service->object->StringAt({"spec", "type"}) == "ClusterIP");
  CHECK((*service->object->At({"spec", "ports"})->AsArray())[0] ==
        J(R"({"port":80,"protocol":"TCP","targetPort":80})"));

  auto claim = Make("persistentvolumeclaims", R"({"metadata":{"name":"c"},"spec":{
      "accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1024Mi"}}}})");
  REQUIRE(claim);
  CHECK(claim->object->StringAt({"status", "phase"}) == "Pending");
  CHECK(claim->object->StringAt({"spec", "resources", "requests", "storage"}) == "1Gi");

  auto secret = Make("secrets", R"({"metadata":{"name":"s"}})");
  REQUIRE(secret);
  CHECK(secret->object->StringAt({"type"}) == "Opaque");
}

TEST_CASE_METHOD(ObjectRulesTest, "metadata: labels, owners and scope are checked", "[sandbox]") {
  CHECK(
      Refusal("configmaps", R"({"metadata":{"name":"a","labels":{"x":"not ok"}}})")
          .starts_with("ConfigMap \"a\" is invalid: metadata.labels: Invalid value: \"not ok\": "));
  CHECK(
      Refusal("configmaps", R"({"metadata":{"name":"a","ownerReferences":[{"apiVersion":"v1",
            "kind":"Pod","name":"p"}]}})") ==
      "ConfigMap \"a\" is invalid: metadata.ownerReferences.uid: Invalid value: \"\": must not be "
      "empty");
  for (const char* name : {"a.b", "A"}) {
    INFO(name);
    const std::string body = R"({"metadata":{"name":")" + std::string(name) + "\"}}";
    CHECK(Refusal("namespaces", body).find("is invalid: metadata.name: Invalid value") !=
          std::string::npos);
  }
  CHECK(Refusal("configmaps", R"({"metadata":{"name":"a.b"}})").empty());
}

}  // namespace
}  // namespace sandbox::object_rules_test
