// Fixtures of kubernetes v1.36.3, pkg/quota/v1/evaluator/core/resource_claims_test.go, and a test
// for each rule of resource_claims.go.

#include <string>

#include "pkg/quota/evaluator.h"
#include "pkg/quota/ledger.h"
#include "pkg/quota/quota.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::core::resourceclaims {

Evaluator MakeEvaluator();
}
namespace quota::core::pods {
Evaluator MakeEvaluator();
}
namespace quota::core::resourceclaims {

namespace {

base::Result<ObjectFacts> FactsOf(const std::string& requests) {
  return MakeEvaluator().facts_of(Json(R"({"spec":{"devices":{"requests":)" + requests + "}}}"),
                                  {});
}

constexpr const char* kClaim = "count/resourceclaims.resource.k8s.io=1";

struct Row {
  std::string name;
  std::string requests;
  std::string devices;  // the usage besides the claim as an object
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
    {"the API server's default", R"([{"exactly":{"deviceClassName":"a"}}])",
     "a.deviceclass.resource.k8s.io/devices=1"},
    {"a zero is defaulted too",
     R"([{"exactly":{"deviceClassName":"a","allocationMode":"ExactCount","count":0}}])",
     "a.deviceclass.resource.k8s.io/devices=1"},
    {"a mode of a later version",
     R"([{"exactly":{"deviceClassName":"a","allocationMode":"Some","count":7}}])",
     "a.deviceclass.resource.k8s.io/devices=0"},
    {"admin access takes no device",
     R"([{"exactly":{"deviceClassName":"a","allocationMode":"All","adminAccess":true}},
         {"exactly":{"deviceClassName":"a","count":2,"adminAccess":false}},
         {"exactly":{"deviceClassName":"b","adminAccess":true}}])",
     "a.deviceclass.resource.k8s.io/devices=2"},
    {"a request of a later version", R"([{"name":"x","someday":{"deviceClassName":"a"}}])", ""},
    {"requests add up by class",
     R"([{"exactly":{"deviceClassName":"a","allocationMode":"ExactCount","count":2}},
         {"exactly":{"deviceClassName":"b","allocationMode":"All"}},
         {"exactly":{"deviceClassName":"a","allocationMode":"ExactCount","count":3}}])",
     "a.deviceclass.resource.k8s.io/devices=5,b.deviceclass.resource.k8s.io/devices=32"},
    {"the maximum of the alternatives for each class",
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
    {"the maximums of all requests add up",
     R"([{"firstAvailable":[{"deviceClassName":"a","allocationMode":"ExactCount","count":2},
                            {"deviceClassName":"a","allocationMode":"ExactCount","count":3}]},
         {"firstAvailable":[{"deviceClassName":"a","allocationMode":"ExactCount","count":4}]},
         {"exactly":{"deviceClassName":"a","allocationMode":"ExactCount","count":1}}])",
     "a.deviceclass.resource.k8s.io/devices=8"},
    // v1alpha3 and v1beta1 have the fields of `exactly` in the request itself.
    {"flat: one", R"([{"name":"r","deviceClassName":"a","allocationMode":"ExactCount","count":1}])",
     "a.deviceclass.resource.k8s.io/devices=1"},
    {"flat: five", R"([{"deviceClassName":"a","allocationMode":"ExactCount","count":5}])",
     "a.deviceclass.resource.k8s.io/devices=5"},
    {"flat: all", R"([{"deviceClassName":"a","allocationMode":"All"}])",
     "a.deviceclass.resource.k8s.io/devices=32"},
    {"flat: as the API server defaults", R"([{"deviceClassName":"a"}])",
     "a.deviceclass.resource.k8s.io/devices=1"},
    {"flat: admin access",
     R"([{"deviceClassName":"a","count":3,"adminAccess":true},{"deviceClassName":"b"}])",
     "b.deviceclass.resource.k8s.io/devices=1"},
    {"flat: a mode of a later version",
     R"([{"deviceClassName":"a","allocationMode":"Some","count":7}])",
     "a.deviceclass.resource.k8s.io/devices=0"},
    {"flat: requests add up, alternatives too",
     R"([{"deviceClassName":"a","allocationMode":"ExactCount","count":2},
         {"deviceClassName":"b","allocationMode":"All"},
         {"firstAvailable":[
           {"name":"x","deviceClassName":"a","allocationMode":"ExactCount","count":1},
           {"name":"y","deviceClassName":"b","allocationMode":"ExactCount","count":3}]}])",
     "a.deviceclass.resource.k8s.io/devices=3,b.deviceclass.resource.k8s.io/devices=35"},
    {"an unknown mode among alternatives",
     R"([{"firstAvailable":[{"deviceClassName":"a","allocationMode":"Some","count":9}]}])", ""},
};

constexpr std::string_view kDevices = ".deviceclass.resource.k8s.io/devices";
constexpr std::string_view kImplicit = "requests.deviceclass.resource.kubernetes.io/";

ResourceList WithoutExtended(const ResourceList& usage) {
  ResourceList rest;
  for (const auto& [name, amount] : usage) {
    if (!name.starts_with(kImplicit)) rest.Set(name, amount);
  }
  return rest;
}

// The same amounts, each under the name of its class's devices.
ResourceList ExtendedAsDevices(const Facts& facts) {
  ResourceList devices;
  for (const auto& [name, amount] : facts.usage) {
    if (!name.starts_with(kImplicit)) continue;
    devices.Set(name.substr(kImplicit.size()).append(kDevices), amount);
  }
  return devices;
}

ResourceList UnitsAsDevices(const Facts& facts) {
  ResourceList devices;
  for (const ClassUnits& units : facts.classes) {
    devices.Set(units.name + std::string(kDevices), Quantity::FromInt(1).Mul(units.units));
  }
  return devices;
}

ResourceList OnlyPositiveDevices(const ResourceList& usage) {
  ResourceList devices;
  for (const auto& [name, amount] : usage) {
    if (name.ends_with(kDevices) && amount.Sign() > 0) devices.Set(name, amount);
  }
  return devices;
}

TEST_CASE("device claims: admin access counts where the API server's plugin decides",
          "[quota][core]") {
  const auto facts = MakeEvaluator().facts_of(Json(R"({"spec":{"devices":{"requests":[
             {"exactly":{"deviceClassName":"a","count":3,"adminAccess":true}}]}}})"),
                                              {.rules = {.admin_access_counts = true}});
  REQUIRE(facts.has_value());
  CHECK(facts->now.usage.Get("a.deviceclass.resource.k8s.io/devices").ToString() == "3");
}

TEST_CASE("device claims: the maximum number of devices of each class counts", "[quota][core]") {
  for (const Row& row : kRows) {
    INFO(row.name);
    const auto facts = FactsOf(row.requests);
    REQUIRE(facts.has_value());
    // Sorted by name: the classes here all come before "count/".
    const std::string expected = row.devices.empty() ? kClaim : row.devices + "," + kClaim;
    CHECK(WithoutExtended(facts->now.usage).ToString() == expected);
    CHECK(facts->now.attributes.empty());
    CHECK_FALSE(facts->later.has_value());
    CHECK_FALSE(facts->tie.has_value());
    CHECK(ExtendedAsDevices(facts->now) == OnlyPositiveDevices(facts->now.usage));
    CHECK(UnitsAsDevices(facts->now) == OnlyPositiveDevices(facts->now.usage));
  }
}

TEST_CASE("device claims: the error for an invalid claim names the field", "[quota][core]") {
  const auto error = [](const std::string& requests) {
    const auto facts = FactsOf(requests);
    if (facts) return std::string("no error");
    CHECK(facts.error().code == base::ErrorCode::kMalformed);
    return facts.error().message;
  };
  CHECK(error("{}") == "spec.devices.requests: must be a list");
  CHECK(error(R"([{"exactly":{"deviceClassName":"a","count":"2"}}])") ==
        "spec.devices.requests[0].exactly.count: must be a whole number");
  CHECK(error(R"([{"deviceClassName":"a","count":"2"}])") ==
        "spec.devices.requests[0].count: must be a whole number");
  CHECK(error(R"([{"exactly":{"deviceClassName":"a"}},
                  {"firstAvailable":[{"deviceClassName":"a","count":-1}]}])") ==
        "spec.devices.requests[1].firstAvailable[0].count: must be a whole number");
}

base::Result<ClassUsage> DeviceClass(const std::string& extended) {
  json::Value object = Json(R"({"metadata":{"name":"gpu"},"spec":{}})");
  if (!extended.empty()) object.Make({"spec", "extendedResourceName"}) = extended;
  return MakeEvaluator().classes->usage_of(object);
}

TEST_CASE("device claims: the evaluator owns its names", "[quota][core]") {
  const Evaluator evaluator = MakeEvaluator();
  CHECK(evaluator.resource == api::GroupResource{"resource.k8s.io", "resourceclaims"});
  CHECK(evaluator.owns("count/resourceclaims.resource.k8s.io"));
  CHECK(evaluator.owns("gpu.example.com.deviceclass.resource.k8s.io/devices"));
  for (const char* name :
       {"resourceclaims", "storage", "ephemeral-storage", "gpu.storage.k8s.io/requests.storage",
        "bronze.deviceclass.resource.k8s.io/storage"}) {
    CHECK_FALSE(evaluator.owns(name));
    CHECK_FALSE(evaluator.classes->concerns(name));
  }
}

TEST_CASE("device claims: a class makes the evaluator own its extended resource", "[quota][core]") {
  const Evaluator evaluator = MakeEvaluator();
  const ResourceList hard = List({{"requests.deviceclass.resource.kubernetes.io/gpu", "1"},
                                  {"requests.example.com/gpu", "1"},
                                  {"requests.cpu", "1"}});
  CHECK(NamesOfClasses(evaluator, hard).size() == 2);
  ClassTable classes;
  CHECK(OwnedNames(evaluator, hard).empty());
  CHECK(OwnedNames(evaluator, hard, &classes).empty());
  classes.Set("tpu", DeviceClass("example.com/tpu"));
  CHECK(OwnedNames(evaluator, hard, &classes).empty());
  classes.Set("gpu", DeviceClass(""));
  CHECK(OwnedNames(evaluator, hard, &classes) ==
        std::vector<std::string>{"requests.deviceclass.resource.kubernetes.io/gpu"});
  classes.Set("gpu", DeviceClass("example.com/gpu"));
  CHECK(OwnedNames(evaluator, hard, &classes).size() == 2);
}

// A pod and the claims created for it, as in upstream's fixtures: class gpu declares
// example.com/gpu.
class Shared {
 public:
  Shared() { classes_.Set("gpu", DeviceClass("example.com/gpu")); }

  // Containers (and init containers), given by their requests as JSON objects.
  void SetPod(const std::string& containers, const std::string& init_containers,
              const std::string& status) {
    const auto list = [](const std::string& requests) {
      return requests.empty() ? "[]"
                              : R"([{"name":"c","resources":{"requests":)" + requests + "}}]";
    };
    const auto facts = pods::MakeEvaluator().facts_of(
        Json(R"({"metadata":{"name":"p"},"spec":{"containers":)" + list(containers) +
             R"(,"initContainers":)" + list(init_containers) + R"(},"status":)" + status + "}"),
        {});
    REQUIRE(facts.has_value());
    pods_.Set("ns", pod_, *facts);
  }

  // Adds a claim for this number of devices of class gpu.
  void AddClaim(const std::string& name, int requests, const std::string& created,
                const std::string& marked = "true") {
    json::Value claim = Json(R"({"metadata":{"annotations":{},"ownerReferences":[{
        "apiVersion":"v1","kind":"Pod","name":"p","uid":"uid","controller":true}]},
        "spec":{"devices":{"requests":[]}}})");
    claim.Make({"metadata", "name"}) = name;
    claim.Make({"metadata", "creationTimestamp"}) = created;
    claim.Make({"metadata", "annotations", "resource.kubernetes.io/extended-resource-claim"}) =
        marked;
    for (int i = 0; i < requests; ++i) {
      claim.Make({"spec", "devices", "requests"})
          .AsArray()
          ->push_back(Json(R"({"exactly":{"deviceClassName":"gpu","count":1}})"));
    }
    const auto facts = MakeEvaluator().facts_of(claim, {});
    REQUIRE(facts.has_value());
    claims_.Set("ns", Uid::FromText(name), *facts);
  }
  void RemoveClaim(const std::string& name) { claims_.Remove("ns", Uid::FromText(name)); }
  void RemovePod() { pods_.Remove("ns", pod_); }

  // Returns "devices / implicit / explicit", the usage of all claims.
  [[nodiscard]] std::string Claims() const {
    const std::vector<std::string> names = {std::string("gpu").append(kDevices),
                                            std::string(kImplicit).append("gpu"),
                                            "requests.example.com/gpu"};
    const auto sum =
        claims_.Sum({.ns = "ns"}, {}, {}, names, {.classes = &classes_, .owners = &pods_});
    if (!sum) return sum.error().message;
    std::string text;
    for (const std::string& name : names) {
      text += (text.empty() ? "" : " / ") + sum->Get(name).ToString();
    }
    return text;
  }

 private:
  const Uid pod_ = Uid::FromText("uid");
  Ledger pods_;
  Ledger claims_;
  ClassTable classes_;
};

constexpr const char* kEarly = "2026-01-01T00:00:00Z";
constexpr const char* kLate = "2026-01-01T00:00:01Z";
constexpr const char* kSaysFoo = R"({"extendedResourceClaimStatus":{"resourceClaimName":"foo"}})";
constexpr const char* kExplicit = R"({"example.com/gpu":"1"})";
constexpr const char* kImplicitOne = R"({"deviceclass.resource.kubernetes.io/gpu":"1"})";
constexpr const char* kBoth =
    R"({"example.com/gpu":"1","deviceclass.resource.kubernetes.io/gpu":"1"})";

TEST_CASE("device claims: the webhook is called for updates that can end a claim's tie",
          "[quota][core]") {
  const Guard guard = MakeEvaluator().guard;
  CHECK(guard.updates);
  CHECK(guard.update_condition.find(
            std::string("annotations[?'")
                .append("resource.kubernetes.io/extended-resource-claim']")) != std::string::npos);
  CHECK(guard.update_condition.find("metadata.?ownerReferences") != std::string::npos);
}

TEST_CASE("device claims: usage that the pod is charged for is not charged again",
          "[quota][core]") {
  Shared s;
  SECTION("by the implicit name of the class") {
    s.SetPod(kImplicitOne, "", kSaysFoo);
    s.AddClaim("foo", 1, kEarly);
    CHECK(s.Claims() == "1 / 0 / 1");
  }
  SECTION("by the name that the class declares") {
    s.SetPod("", kExplicit, kSaysFoo);
    s.AddClaim("foo", 1, kEarly);
    CHECK(s.Claims() == "1 / 1 / 0");
  }
  SECTION("by both names, in containers and init containers") {
    s.SetPod(kBoth, kBoth, kSaysFoo);
    s.AddClaim("foo", 2, kEarly);
    CHECK(s.Claims() == "2 / 1 / 1");
  }
  SECTION("before the status of the pod names its claim") {
    s.SetPod(kImplicitOne, kExplicit, "{}");
    s.AddClaim("foo", 2, kEarly);
    CHECK(s.Claims() == "2 / 1 / 1");
  }
  SECTION("at most the amount of the claim itself") {
    s.SetPod(R"({"example.com/gpu":"5"})", "", kSaysFoo);
    s.AddClaim("foo", 2, kEarly);
    CHECK(s.Claims() == "2 / 2 / 0");
  }
}

TEST_CASE("device claims: only one claim of a pod shares its charge", "[quota][core]") {
  Shared s;
  s.SetPod(kImplicitOne, kExplicit, "{}");
  SECTION("the oldest claim, if the pod names none") {
    s.AddClaim("younger", 2, kLate);
    s.AddClaim("z-oldest", 3, kEarly);
    CHECK(s.Claims() == "5 / 4 / 4");
    s.RemoveClaim("z-oldest");
    CHECK(s.Claims() == "2 / 1 / 1");
  }
  SECTION("of the same age, the first by name") {
    s.SetPod(R"({"example.com/gpu":"9"})", "", "{}");
    s.AddClaim("foo-copy", 2, kEarly);
    s.AddClaim("foo", 3, kEarly);
    CHECK(s.Claims() == "5 / 5 / 2");
  }
  SECTION("the claim that the pod names, whatever its age") {
    s.SetPod(R"({"example.com/gpu":"9"})", "", kSaysFoo);
    s.AddClaim("first", 2, kEarly);
    s.AddClaim("foo", 3, kLate);
    CHECK(s.Claims() == "5 / 5 / 2");
    s.RemoveClaim("foo");
    CHECK(s.Claims() == "2 / 2 / 2");
  }
}

TEST_CASE("device claims: a claim that its pod does not name counts in full", "[quota][core]") {
  Shared s;
  s.SetPod(kBoth, "", kSaysFoo);
  s.AddClaim("foo", 1, kEarly);
  REQUIRE(s.Claims() == "1 / 0 / 0");
  SECTION("the pod is deleted") { s.RemovePod(); }
  SECTION("the pod has finished and is not charged any more") {
    s.SetPod(kBoth, "", R"({"phase":"Succeeded",
        "extendedResourceClaimStatus":{"resourceClaimName":"foo"}})");
  }
  SECTION("the pod names another claim") {
    s.SetPod(kBoth, "", R"({"extendedResourceClaimStatus":{"resourceClaimName":"other"}})");
  }
  SECTION("the claim is not marked as made for a pod") { s.AddClaim("foo", 1, kEarly, "false"); }
  CHECK(s.Claims() == "1 / 1 / 1");
}

TEST_CASE("device claims: only a controlling pod is an owner", "[quota][core]") {
  const auto tied = [](const std::string& reference) {
    const auto facts = MakeEvaluator().facts_of(
        Json(R"({"metadata":{"name":"c","ownerReferences":[)" + reference +
             R"(],"annotations":{"resource.kubernetes.io/extended-resource-claim":"true"}}})"),
        {});
    return facts.has_value() && facts->tie.has_value();
  };
  CHECK(tied(R"({"apiVersion":"v1","kind":"Pod","uid":"u","controller":true})"));
  CHECK_FALSE(tied(R"({"apiVersion":"v1","kind":"Pod","uid":"u"})"));
  CHECK_FALSE(tied(R"({"apiVersion":"v2","kind":"Pod","uid":"u","controller":true})"));
  CHECK_FALSE(tied(R"({"apiVersion":"apps/v1","kind":"ReplicaSet","uid":"u","controller":true})"));
  CHECK(tied(R"({"apiVersion":"apps/v1","kind":"ReplicaSet","uid":"o","controller":false},
                {"apiVersion":"v1","kind":"Pod","uid":"u","controller":true})"));
  CHECK_FALSE(tied(""));
}

}  // namespace
}  // namespace quota::core::resourceclaims
