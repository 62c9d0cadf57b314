// A test for each rule of kubernetes v1.36.3,
// pkg/quota/v1/evaluator/core/persistent_volume_claims.go.

#include <string>
#include <string_view>
#include <vector>

#include "pkg/quota/evaluator.h"
#include "tests/pkg/quota/guard_testing.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::core::persistentvolumeclaims {

Evaluator MakeEvaluator();

namespace {

base::Result<ObjectFacts> FactsOf(std::string_view claim) {
  return MakeEvaluator().facts_of(Json(claim), {});
}

struct UsageRow {
  std::string name;
  std::string claim;
  std::string usage;
};

const UsageRow kUsageRows[] = {
    {"no storage, no class", R"({"spec":{}})",
     "count/persistentvolumeclaims=1,persistentvolumeclaims=1"},
    {"storage", R"({"spec":{"resources":{"requests":{"storage":"10Gi"}}}})",
     "count/persistentvolumeclaims=1,persistentvolumeclaims=1,requests.storage=10Gi"},
    {"limits do not count", R"({"spec":{"resources":{"limits":{"storage":"10Gi"}}}})",
     "count/persistentvolumeclaims=1,persistentvolumeclaims=1"},
    {"storage of a class",
     R"({"spec":{"storageClassName":"gold","resources":{"requests":{"storage":"10Gi"}}}})",
     "count/persistentvolumeclaims=1,gold.storageclass.storage.k8s.io/persistentvolumeclaims=1,"
     "gold.storageclass.storage.k8s.io/requests.storage=10Gi,persistentvolumeclaims=1,"
     "requests.storage=10Gi"},
    {"a class without storage", R"({"spec":{"storageClassName":"gold"}})",
     "count/persistentvolumeclaims=1,gold.storageclass.storage.k8s.io/persistentvolumeclaims=1,"
     "persistentvolumeclaims=1"},
    {"the annotation has precedence",
     R"({"metadata":{"annotations":{"volume.beta.kubernetes.io/storage-class":"old"}},
         "spec":{"storageClassName":"gold","resources":{"requests":{"storage":"1"}}}})",
     "count/persistentvolumeclaims=1,old.storageclass.storage.k8s.io/persistentvolumeclaims=1,"
     "old.storageclass.storage.k8s.io/requests.storage=1,persistentvolumeclaims=1,"
     "requests.storage=1"},
    {"an empty annotation has precedence",
     R"({"metadata":{"annotations":{"volume.beta.kubernetes.io/storage-class":""}},
         "spec":{"storageClassName":"gold","resources":{"requests":{"storage":"1"}}}})",
     "count/persistentvolumeclaims=1,persistentvolumeclaims=1,requests.storage=1"},
    {"an empty name is no class", R"({"spec":{"storageClassName":""}})",
     "count/persistentvolumeclaims=1,persistentvolumeclaims=1"},
    {"other annotations name no class",
     R"({"metadata":{"annotations":{"storage-class":"old"}},"spec":{"storageClassName":null}})",
     "count/persistentvolumeclaims=1,persistentvolumeclaims=1"},
    {"a fraction of a byte is one more",
     R"({"spec":{"storageClassName":"gold","resources":{"requests":{"storage":"1000000000000001m"}}}})",
     "count/persistentvolumeclaims=1,gold.storageclass.storage.k8s.io/persistentvolumeclaims=1,"
     "gold.storageclass.storage.k8s.io/requests.storage=1000000000001,persistentvolumeclaims=1,"
     "requests.storage=1000000000001"},
    {"more allocated than requested",
     R"({"spec":{"resources":{"requests":{"storage":"10Gi"}}},
         "status":{"allocatedResources":{"storage":"20Gi"}}})",
     "count/persistentvolumeclaims=1,persistentvolumeclaims=1,requests.storage=20Gi"},
    {"the allocated amount is rounded up too",
     R"({"spec":{"resources":{"requests":{"storage":"1"}}},
         "status":{"allocatedResources":{"storage":"2500m"}}})",
     "count/persistentvolumeclaims=1,persistentvolumeclaims=1,requests.storage=3"},
    {"less allocated than requested",
     R"({"spec":{"resources":{"requests":{"storage":"10Gi"}}},
         "status":{"allocatedResources":{"storage":"9Gi"}}})",
     "count/persistentvolumeclaims=1,persistentvolumeclaims=1,requests.storage=10Gi"},
    {"other resources are allocated",
     R"({"spec":{"resources":{"requests":{"storage":"10Gi"}}},
         "status":{"allocatedResources":{"example.com/x":"20Gi"}}})",
     "count/persistentvolumeclaims=1,persistentvolumeclaims=1,requests.storage=10Gi"},
    {"allocated, but not requested", R"({"status":{"allocatedResources":{"storage":"20Gi"}}})",
     "count/persistentvolumeclaims=1,persistentvolumeclaims=1"},
    {"what is bound may be more; only the request counts",
     R"({"spec":{"resources":{"requests":{"storage":"1Gi"}}},
         "status":{"capacity":{"storage":"5Gi"}}})",
     "count/persistentvolumeclaims=1,persistentvolumeclaims=1,requests.storage=1Gi"},
};

TEST_CASE("claims: storage counts in whole bytes, in total and for the storage class",
          "[quota][core]") {
  for (const UsageRow& row : kUsageRows) {
    INFO(row.name);
    const auto facts = FactsOf(row.claim);
    REQUIRE(facts.has_value());
    CHECK(facts->now.usage.ToString() == row.usage);
    CHECK_FALSE(facts->later.has_value());
  }
}

TEST_CASE("claims: storage that cannot be read makes only its names unknown", "[quota][core]") {
  const auto facts = [](std::string_view claim) {
    const auto read = FactsOf(claim);
    REQUIRE(read.has_value());
    return *read;
  };
  const std::vector<std::string> unread = {"gold.storageclass.storage.k8s.io/requests.storage",
                                           "requests.storage"};
  const std::string counts =
      "count/persistentvolumeclaims=1,"
      "gold.storageclass.storage.k8s.io/persistentvolumeclaims=1,";
  const auto much = facts(R"({"spec":{"storageClassName":"gold",
                                      "resources":{"requests":{"storage":"much"}}}})");
  CHECK(much.flaw.starts_with("spec.resources.requests[storage]: "));
  CHECK(much.now.unread == unread);
  CHECK(much.now.usage.ToString() == counts + "persistentvolumeclaims=1");
  const auto allocated = facts(R"({"spec":{"storageClassName":"gold",
                                           "resources":{"requests":{"storage":"7"}}},
                                   "status":{"allocatedResources":{"storage":[]}}})");
  CHECK(allocated.flaw == "status.allocatedResources[storage]: must be a quantity, not array");
  CHECK(allocated.now.unread == unread);
  CHECK(allocated.now.usage.ToString() ==
        counts +
            "gold.storageclass.storage.k8s.io/requests.storage=7,persistentvolumeclaims=1,"
            "requests.storage=7");
  // At least what was allocated is used.
  const auto requested = facts(R"({"spec":{"resources":{"requests":{"storage":"x"}}},
                                   "status":{"allocatedResources":{"storage":"9"}}})");
  CHECK(requested.now.unread == std::vector<std::string>{"requests.storage"});
  CHECK(requested.now.usage.Get("requests.storage").ToString() == "9");
}

TEST_CASE("claims: the evaluator owns its names", "[quota][core]") {
  const Evaluator evaluator = MakeEvaluator();
  for (const char* name : {"persistentvolumeclaims", "count/persistentvolumeclaims",
                           "requests.storage", "a.b.storageclass.storage.k8s.io/requests.storage",
                           "a.storageclass.storage.k8s.io/persistentvolumeclaims"}) {
    INFO(name);
    CHECK(evaluator.owns(name));
  }
  CHECK_FALSE(evaluator.owns("a.storageclass.storage.k8s.io/xrequests.storage"));
  CHECK_FALSE(evaluator.owns("limits.storage"));
}

TEST_CASE("claims: attributes have all volume attributes classes of the claim", "[quota][core]") {
  using Classes = std::vector<std::string>;
  struct Row {
    std::string name;
    std::string claim;
    Classes classes;
  };
  const Row rows[] = {
      {"no class at all", R"({"spec":{}})", {}},
      {"empty names are none",
       R"({"spec":{"volumeAttributesClassName":""},"status":{"modifyVolumeStatus":{}}})",
       {}},
      {"converged",
       R"({"spec":{"volumeAttributesClassName":"gold"},
           "status":{"currentVolumeAttributesClassName":"gold"}})",
       {"gold"}},
      {"moving from gold to silver",
       R"({"spec":{"volumeAttributesClassName":"silver"},
           "status":{"currentVolumeAttributesClassName":"gold",
                     "modifyVolumeStatus":{"targetVolumeAttributesClassName":"silver"}}})",
       {"gold", "silver"}},
      {"only the target class",
       R"({"status":{"modifyVolumeStatus":{
           "targetVolumeAttributesClassName":"bronze"}}})",
       {"bronze"}},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    const auto facts = FactsOf(row.claim);
    REQUIRE(facts.has_value());
    std::vector<Attribute> expected;
    for (const std::string& name : row.classes) {
      expected.emplace_back("VolumeAttributesClass", name);
    }
    CHECK(facts->now.attributes == expected);
  }
}

const Restated kUpdateCondition = {
    "object.spec.?resources.?requests.?storage != oldObject.spec.?resources.?requests.?storage || "
    "object.spec.?storageClassName != oldObject.spec.?storageClassName || "
    "object.spec.?volumeAttributesClassName != oldObject.spec.?volumeAttributesClassName || "
    "object.metadata.?annotations[?'volume.beta.kubernetes.io/storage-class'] != "
    "oldObject.metadata.?annotations[?'volume.beta.kubernetes.io/storage-class']",
    [](const json::Value& object, const json::Value& old) {
      return Differ(object, old, {"spec", "resources", "requests", "storage"}) ||
             Differ(object, old, {"spec", "storageClassName"}) ||
             Differ(object, old, {"spec", "volumeAttributesClassName"}) ||
             Differ(object, old,
                    {"metadata", "annotations", "volume.beta.kubernetes.io/storage-class"});
    }};

json::Value DrawClaim(Drawer& draw) {
  json::Value claim = Json(R"({"metadata":{"annotations":{}},"spec":{},
      "status":{"allocatedResources":{"storage":"15Gi"},
                "currentVolumeAttributesClassName":"silver"}})");
  draw.Put(claim, {"metadata", "annotations", "volume.beta.kubernetes.io/storage-class"},
           {"", "", R"("")", R"("gold")"});
  draw.Put(claim, {"metadata", "annotations", "note"}, {"", R"("x")"});
  draw.Put(claim, {"spec", "storageClassName"}, {"", R"("gold")", R"("silver")"});
  draw.Put(claim, {"spec", "volumeAttributesClassName"}, {"", R"("gold")", R"("silver")"});
  draw.Put(claim, {"spec", "volumeName"}, {"", R"("pv")"});
  draw.Put(claim, {"spec", "resources", "requests", "storage"},
           {"", R"("10Gi")", R"("20Gi")", R"("30Gi")"});
  return claim;
}

TEST_CASE("claims: every update that needs more meets the guard's condition", "[quota][core]") {
  NothingEscapes(MakeEvaluator(), kUpdateCondition, DrawClaim);
}

}  // namespace
}  // namespace quota::core::persistentvolumeclaims
