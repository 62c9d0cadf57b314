// The messages of kubernetes v1.36.3, pkg/apis/core/validation/validation.go.

#include "cmd/sandbox-apiserver/quota_rules.h"

#include <catch2/catch.hpp>

#include "tests/cmd/sandbox-apiserver/core_fixture.h"

namespace sandbox::quota_rules_test {
namespace {

using json::Value;

class QuotaRulesTest : public CoreFixture {
 protected:
  std::string Refusal(std::string_view spec) {
    Value quota = J(R"({"metadata":{"name":"q"}})");
    quota.Make({"spec"}) = J(spec);
    auto made = store_.Create(At("resourcequotas", ""), quota);
    if (made) return "";
    CHECK(made.error().code == 422);
    return made.error().message;
  }
};

const std::string kInvalid = "ResourceQuota \"q\" is invalid: ";

TEST_CASE_METHOD(QuotaRulesTest, "quota: an unknown bare name has two errors", "[sandbox]") {
  CHECK(Refusal(R"({"hard":{"foo":"1"}})") ==
        kInvalid +
            "[spec.hard[foo]: Invalid value: \"foo\": must be a standard resource type or fully "
            "qualified, spec.hard[foo]: Invalid value: \"foo\": must be a standard resource for "
            "quota]");
  CHECK(
      Refusal(R"({"hard":{"storage":"1"}})") ==
      kInvalid +
          "spec.hard[storage]: Invalid value: \"storage\": must be a standard resource for quota");
}

TEST_CASE_METHOD(QuotaRulesTest, "quota: negative and fractional limits", "[sandbox]") {
  CHECK(Refusal(R"({"hard":{"pods":"-1"}})") ==
        kInvalid + "spec.hard[pods]: Invalid value: \"-1\": must be greater than or equal to 0");
  CHECK(Refusal(R"({"hard":{"pods":"500m"}})") ==
        kInvalid + "spec.hard[pods]: Invalid value: \"500m\": must be an integer");
  CHECK(Refusal(R"({"hard":{"count/pods":"0.5"}})") ==
        kInvalid + "spec.hard[count/pods]: Invalid value: \"500m\": must be an integer");
  CHECK(Refusal(R"({"hard":{"requests.nvidia.com/gpu":"1500m"}})").empty());
}

TEST_CASE_METHOD(QuotaRulesTest, "quota: names that are accepted", "[sandbox]") {
  CHECK(Refusal(R"({"hard":{"cpu":"1","requests.memory":"1Gi","limits.cpu":"2","hugepages-2Mi":"1",
      "requests.storage":"10Gi","services.nodeports":"0","count/widgets.example.com":"3",
      "gold.storageclass.storage.k8s.io/requests.storage":"5Gi","example.com/x":"1"}})")
            .empty());
}

TEST_CASE_METHOD(QuotaRulesTest, "quota: quantities are rounded up and canonical", "[sandbox]") {
  auto made = Make("resourcequotas", R"({"metadata":{"name":"q"},"spec":{"hard":
      {"cpu":"1.0001","memory":"1024Mi","requests.cpu":2}}})");
  REQUIRE(made);
  CHECK(*made->object->At({"spec", "hard"}) ==
        J(R"({"cpu":"1001m","memory":"1Gi","requests.cpu":"2"})"));
  auto bad = Make("resourcequotas", R"({"metadata":{"name":"r"},"spec":{"hard":{"cpu":"x"}}})");
  REQUIRE_FALSE(bad);
  CHECK(bad.error().code == 400);
}

TEST_CASE_METHOD(QuotaRulesTest, "quota: scopes", "[sandbox]") {
  CHECK(Refusal(R"({"hard":{"pods":"1"},"scopes":["X"]})") ==
        kInvalid + "spec.scopes: Invalid value: [\"X\"]: unsupported scope");
  CHECK(Refusal(R"({"hard":{"services":"1","secrets":"2"},"scopes":["Terminating"]})") ==
        kInvalid +
            "spec.scopes: Invalid value: [\"Terminating\"]: unsupported scope applied to resource");
  CHECK(Refusal(R"({"hard":{"pods":"1"},"scopes":["BestEffort","NotBestEffort"]})") ==
        kInvalid +
            "spec.scopes: Invalid value: [\"BestEffort\",\"NotBestEffort\"]: conflicting scopes");
  CHECK(Refusal(R"({"hard":{"pods":"1","cpu":"1","count/secrets":"1"},"scopes":["Terminating"]})")
            .empty());
}

TEST_CASE_METHOD(QuotaRulesTest, "quota: scope selectors", "[sandbox]") {
  const auto refusal = [&](std::string_view expression) {
    Value spec = J(R"({"hard":{"pods":"1"},"scopeSelector":{"matchExpressions":[]}})");
    spec.Make({"scopeSelector", "matchExpressions"}).AsArray()->push_back(J(expression));
    return Refusal(json::Write(spec));
  };
  const std::string path = kInvalid + "spec.scopeSelector.matchExpressions.";
  CHECK(refusal(R"({"scopeName":"X","operator":"Exists"})") ==
        path + "scopeName: Invalid value: \"X\": unsupported scope");
  CHECK(refusal(R"({"scopeName":"BestEffort","operator":"In","values":["a"]})")
            .starts_with(path + "operator: Invalid value: \"In\": must be 'Exists' when scope is"));
  CHECK(refusal(R"({"scopeName":"PriorityClass","operator":"In"})") ==
        path +
            "values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' "
            "for scope selector");
  CHECK(refusal(R"({"scopeName":"PriorityClass","operator":"Exists","values":["a"]})") ==
        path +
            "values: Invalid value: [\"a\"]: must be no value when `operator` is 'Exist' or "
            "'DoesNotExist' for scope selector");
  CHECK(refusal(R"({"scopeName":"PriorityClass","operator":"Near"})") ==
        path + "operator: Invalid value: \"Near\": not a valid selector operator");
  CHECK(refusal(R"({"scopeName":"PriorityClass","operator":"NotIn","values":["a"]})").empty());
}

TEST_CASE_METHOD(QuotaRulesTest, "quota: scopes are a set that does not change", "[sandbox]") {
  REQUIRE(Make("resourcequotas", R"({"metadata":{"name":"q"},"spec":{"hard":{"pods":"1"},
      "scopes":["Terminating","NotBestEffort"]}})"));
  const auto patch = [&](std::string_view body) {
    return store_.Patch(At("resourcequotas", "q"), {PatchType::kMerge, J(body)});
  };
  CHECK(patch(R"({"spec":{"scopes":["NotBestEffort","Terminating"],"hard":{"pods":"0"}}})"));
  auto changed = patch(R"({"spec":{"scopes":["Terminating"]}})");
  REQUIRE_FALSE(changed);
  CHECK(changed.error().message ==
        kInvalid + "spec.scopes: Invalid value: [\"Terminating\"]: field is immutable");
  CHECK(changed.error().details.causes.at(0).field == "spec.scopes");
}

TEST_CASE_METHOD(QuotaRulesTest, "quota: the status is validated as well", "[sandbox]") {
  REQUIRE(Make("resourcequotas", R"({"metadata":{"name":"q"},"spec":{"hard":{"pods":"1"}}})"));
  auto bad = store_.Patch(At("resourcequotas", "q", "status"),
                          {PatchType::kMerge, J(R"({"status":{"used":{"pods":"1500m"}}})")});
  REQUIRE_FALSE(bad);
  CHECK(bad.error().message ==
        kInvalid + "status.used[pods]: Invalid value: \"1500m\": must be an integer");
}

TEST_CASE("quota: requests above limits cause a warning", "[sandbox]") {
  CHECK(
      QuotaWarnings(J(R"({"spec":{"hard":{"cpu":"3","requests.cpu":"2","limits.cpu":"1",
                  "requests.memory":"1Gi","limits.memory":"2Gi"}}})")) ==
      std::vector<std::string>{"ResourceQuota requests.cpu (2) should be less than limits.cpu (1)",
                               "ResourceQuota cpu (3) should be less than limits.cpu (1)"});
}

}  // namespace
}  // namespace sandbox::quota_rules_test
