// Fixtures of kubernetes-resourcequota.md 3.8, and one for each row of 3.5.

#include <string>

#include "pkg/quota/evaluator.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::core::resourceclaims {

Evaluator MakeEvaluator();

namespace {

base::Result<ObjectFacts> FactsOf(const std::string& requests) {
  return MakeEvaluator().facts_of(Json(R"({"spec":{"devices":{"requests":)" + requests + "}}}"),
                                  base::WallTime());
}

constexpr const char* kClaim = "count/resourceclaims.resource.k8s.io=1";

struct Row {
  std::string name;
  std::string requests;
  std::string devices;  // what is charged beside the claim itself
};

const Row kRows[] = {
    {"no devices", "[]", ""},
    {"no list", "null", ""},
    {"one", R"([{"exactly":{"deviceClassName":"a","allocationMode":"ExactCount","count":1}}])",
     "a.deviceclass.resource.k8s.io/devices=1"},
    {"five", R"([{"exactly":{"deviceClassName":"a","allocationMode":"ExactCount","count":5}}])",
     "a.deviceclass.resource.k8s.io/devices=5"},
    {"all", R"([{"exactly":{"deviceClassName":"a","allocationMode":"All"}}])",
     "a.deviceclass.resource.k8s.io/devices=32"},
    {"as the API server defaults", R"([{"exactly":{"deviceClassName":"a"}}])",
     "a.deviceclass.resource.k8s.io/devices=1"},
    {"a zero is defaulted too",
     R"([{"exactly":{"deviceClassName":"a","allocationMode":"ExactCount","count":0}}])",
     "a.deviceclass.resource.k8s.io/devices=1"},
    {"a mode of a later version",
     R"([{"exactly":{"deviceClassName":"a","allocationMode":"Some","count":7}}])",
     "a.deviceclass.resource.k8s.io/devices=0"},
    {"a request of a later version", R"([{"name":"x","someday":{"deviceClassName":"a"}}])", ""},
    {"requests add up by class",
     R"([{"exactly":{"deviceClassName":"a","allocationMode":"ExactCount","count":2}},
         {"exactly":{"deviceClassName":"b","allocationMode":"All"}},
         {"exactly":{"deviceClassName":"a","allocationMode":"ExactCount","count":3}}])",
     "a.deviceclass.resource.k8s.io/devices=5,b.deviceclass.resource.k8s.io/devices=32"},
    {"of alternatives the most of each class",
     R"([{"firstAvailable":[
           {"deviceClassName":"a","allocationMode":"ExactCount","count":1},
           {"deviceClassName":"a","allocationMode":"ExactCount","count":2},
           {"deviceClassName":"b","allocationMode":"ExactCount","count":1}]}])",
     "a.deviceclass.resource.k8s.io/devices=2,b.deviceclass.resource.k8s.io/devices=1"},
    {"the order of alternatives does not matter",
     R"([{"firstAvailable":[
           {"deviceClassName":"a","allocationMode":"All"},
           {"deviceClassName":"a","allocationMode":"ExactCount","count":40}]},
         {"firstAvailable":[
           {"deviceClassName":"b","allocationMode":"All"},
           {"deviceClassName":"b","allocationMode":"ExactCount","count":4}]}])",
     "a.deviceclass.resource.k8s.io/devices=40,b.deviceclass.resource.k8s.io/devices=32"},
    {"the most of each request adds up",
     R"([{"firstAvailable":[{"deviceClassName":"a","allocationMode":"ExactCount","count":2},
                            {"deviceClassName":"a","allocationMode":"ExactCount","count":3}]},
         {"firstAvailable":[{"deviceClassName":"a","allocationMode":"ExactCount","count":4}]},
         {"exactly":{"deviceClassName":"a","allocationMode":"ExactCount","count":1}}])",
     "a.deviceclass.resource.k8s.io/devices=8"},
    {"an unknown mode among alternatives",
     R"([{"firstAvailable":[{"deviceClassName":"a","allocationMode":"Some","count":9}]}])", ""},
};

TEST_CASE("device claims: the most devices of each class", "[quota][core]") {
  for (const Row& row : kRows) {
    INFO(row.name);
    const auto facts = FactsOf(row.requests);
    REQUIRE(facts.has_value());
    // Sorted by name: of the classes here all sort before "count/".
    const std::string expected = row.devices.empty() ? kClaim : row.devices + "," + kClaim;
    CHECK(facts->now.usage.ToString() == expected);
    CHECK(facts->now.attributes.empty());
    CHECK_FALSE(facts->later.has_value());
  }
}

TEST_CASE("device claims: what cannot be read is an error that names the field", "[quota][core]") {
  const auto error = [](const std::string& requests) {
    const auto facts = FactsOf(requests);
    if (facts) return std::string("no error");
    CHECK(facts.error().code == base::ErrorCode::kMalformed);
    return facts.error().message;
  };
  CHECK(error("{}") == "spec.devices.requests: must be a list");
  CHECK(error(R"([{"exactly":{"deviceClassName":"a","count":"2"}}])") ==
        "spec.devices.requests[0].exactly.count: must be a whole number");
  CHECK(error(R"([{"exactly":{"deviceClassName":"a"}},
                  {"firstAvailable":[{"deviceClassName":"a","count":-1}]}])") ==
        "spec.devices.requests[1].firstAvailable[0].count: must be a whole number");
}

TEST_CASE("device claims: names owned", "[quota][core]") {
  const Evaluator evaluator = MakeEvaluator();
  CHECK(evaluator.resource == api::GroupResource{"resource.k8s.io", "resourceclaims"});
  CHECK(evaluator.owns("count/resourceclaims.resource.k8s.io"));
  CHECK(evaluator.owns("gpu.example.com.deviceclass.resource.k8s.io/devices"));
  // Pods are what counts under these.
  CHECK_FALSE(evaluator.owns("requests.deviceclass.resource.kubernetes.io/gpu"));
  CHECK_FALSE(evaluator.owns("requests.example.com/gpu"));
}

}  // namespace
}  // namespace quota::core::resourceclaims
