#include "tests/fake/managed_fields.h"

#include <catch2/catch.hpp>
#include <string>

namespace managed_fields_test {

namespace {

json::Value Quota(const std::string& entries) {
  std::string text(R"({"metadata":{"name":"q","managedFields":)");
  auto quota = json::Parse(text.append(entries).append("}}"));
  REQUIRE(quota.has_value());
  return std::move(*quota);
}

std::string UpdaterOfPods(const std::string& entries) {
  return std::string(api::UpdaterOf(Quota(entries), {"status", "used", "pods"}).value_or("nobody"));
}

}  // namespace

// The answer of kube-apiserver 1.36 after two replicas each wrote one name.
TEST_CASE("managed fields: the last manager that updated a field owns it", "[api]") {
  const json::Value quota = Quota(R"([
    {"manager":"kubectl","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1",
     "fieldsV1":{"f:spec":{"f:hard":{".":{},"f:pods":{}}}}},
    {"manager":"a","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1",
     "fieldsV1":{"f:status":{"f:hard":{".":{},"f:pods":{}},"f:used":{".":{},"f:secrets":{}}}},
     "subresource":"status"},
    {"manager":"b","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1",
     "fieldsV1":{"f:status":{"f:used":{"f:pods":{}}}},"subresource":"status"}])");
  CHECK(api::UpdaterOf(quota, {"status", "used", "pods"}) == "b");
  CHECK(api::UpdaterOf(quota, {"status", "used", "secrets"}) == "a");
  CHECK(api::UpdaterOf(quota, {"spec", "hard", "pods"}) == "kubectl");
  CHECK_FALSE(api::UpdaterOf(quota, {"status", "used", "services"}));
  CHECK_FALSE(api::UpdaterOf(quota, {"status", "used", "pods", "deeper"}));
}

TEST_CASE("managed fields: an apply is not an update", "[api]") {
  CHECK(UpdaterOfPods(R"([{"manager":"a","operation":"Apply",
                           "fieldsV1":{"f:status":{"f:used":{"f:pods":{}}}}}])") == "nobody");
}

TEST_CASE("managed fields: an absent or malformed record names no manager", "[api]") {
  for (const char* entries :
       {"null", "[]", "{}", "[1]", R"([{"operation":"Update"}])",
        R"([{"operation":"Update","manager":"a","fieldsV1":"f:status"}])",
        R"([{"operation":"Update","manager":"a","fieldsV1":{"f:status":1}}])"}) {
    INFO(entries);
    CHECK(UpdaterOfPods(entries) == "nobody");
  }
  CHECK_FALSE(api::UpdaterOf(json::Value(), {"status"}));
}

}  // namespace managed_fields_test
