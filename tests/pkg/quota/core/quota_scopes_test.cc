// Which objects a quota with scopes counts: spec.scopes and spec.scopeSelector against objects of
// each evaluator (apiserver v0.36.3, pkg/quota/v1/generic/evaluator.go).

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "pkg/quota/core/core_quota.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::quota_scopes_test {
namespace {

Evaluator EvaluatorOf(const std::string& resource) {
  for (Evaluator& evaluator : core::AllEvaluators()) {
    if (evaluator.resource.resource == resource) return evaluator;
  }
  FAIL("no evaluator of " << resource);
  return {};
}

// True if a quota with this spec counts the object.
bool Counts(const std::string& spec, const std::string& resource, const std::string& object) {
  const auto quota = ParseQuota(
      Json(R"({"metadata":{"name":"q","uid":"u","resourceVersion":"1"},"spec":)" + spec + "}"));
  REQUIRE(quota.has_value());
  const Evaluator evaluator = EvaluatorOf(resource);
  const auto facts = evaluator.facts_of(Json(object), {});
  REQUIRE(facts.has_value());
  return Matches(quota->selector, facts->now.attributes, evaluator.scopes);
}

std::string Scopes(const std::string& list) { return R"({"scopes":)" + list + "}"; }

std::string Selector(const std::string& scope, const std::string& op, const std::string& values) {
  return R"({"scopeSelector":{"matchExpressions":[{"scopeName":")" + scope + R"(","operator":")" +
         op + R"(","values":)" + values + "}]}}";
}

const std::string kBare = R"({"spec":{"containers":[{"name":"a"}]}})";
const std::string kWithCpu =
    R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]}})";
const std::string kJob = R"({"spec":{"activeDeadlineSeconds":0,"containers":[{"name":"a"}]}})";
const std::string kHigh = R"({"spec":{"priorityClassName":"high","containers":[{"name":"a"}]}})";
const std::string kCrossing = R"({"spec":{"affinity":{"podAffinity":{
    "requiredDuringSchedulingIgnoredDuringExecution":[{"namespaceSelector":{}}]}}}})";
const std::string kGold = R"({"spec":{"volumeAttributesClassName":"gold"}})";
const std::string kMoving = R"({"spec":{"volumeAttributesClassName":"silver"},
    "status":{"currentVolumeAttributesClassName":"gold"}})";

TEST_CASE("quota scopes: pods have six, claims have one, other kinds have none", "[quota][core]") {
  const std::map<std::string, std::vector<std::string>> known = {
      {"pods",
       {"BestEffort", "CrossNamespacePodAffinity", "NotBestEffort", "NotTerminating",
        "PriorityClass", "Terminating"}},
      {"persistentvolumeclaims", {"VolumeAttributesClass"}}};
  for (const Evaluator& evaluator : core::AllEvaluators()) {
    INFO(evaluator.resource.ToString());
    const auto at = known.find(evaluator.resource.resource);
    CHECK(evaluator.scopes == (at == known.end() ? std::vector<std::string>() : at->second));
  }
}

TEST_CASE("quota scopes: an entry of spec.scopes means Exists", "[quota][core]") {
  struct Row {
    std::string scope;
    std::string matching;
    std::string other;
  };
  const Row rows[] = {
      {"Terminating", kJob, kBare},    {"NotTerminating", kBare, kJob},
      {"BestEffort", kBare, kWithCpu}, {"NotBestEffort", kWithCpu, kBare},
      {"PriorityClass", kHigh, kBare}, {"CrossNamespacePodAffinity", kCrossing, kBare}};
  for (const Row& row : rows) {
    INFO(row.scope);
    CHECK(Counts(Scopes("[\"" + row.scope + "\"]"), "pods", row.matching));
    CHECK_FALSE(Counts(Scopes("[\"" + row.scope + "\"]"), "pods", row.other));
    CHECK(Counts(Selector(row.scope, "Exists", "null"), "pods", row.matching));
    CHECK_FALSE(Counts(Selector(row.scope, "Exists", "[]"), "pods", row.other));
  }
  CHECK(Counts(Scopes(R"(["VolumeAttributesClass"])"), "persistentvolumeclaims", kGold));
  CHECK_FALSE(Counts(Scopes(R"(["VolumeAttributesClass"])"), "persistentvolumeclaims", "{}"));
}

TEST_CASE("quota scopes: every operator works with the priority class", "[quota][core]") {
  struct Row {
    std::string op;
    std::string values;
    bool high;
    bool none;
  };
  const Row rows[] = {
      {"In", R"(["high","low"])", true, false}, {"In", R"(["low"])", false, false},
      {"In", R"([""])", false, false},          {"NotIn", R"(["high"])", false, true},
      {"NotIn", R"(["low"])", true, true},      {"Exists", "[]", true, false},
      {"DoesNotExist", "[]", false, true}};
  for (const Row& row : rows) {
    INFO(row.op << row.values);
    CHECK(Counts(Selector("PriorityClass", row.op, row.values), "pods", kHigh) == row.high);
    // An empty name is not a class.
    for (const std::string& pod : {kBare, std::string(R"({"spec":{"priorityClassName":""}})")}) {
      CHECK(Counts(Selector("PriorityClass", row.op, row.values), "pods", pod) == row.none);
    }
  }
}

TEST_CASE("quota scopes: a claim that moves between two volume classes counts for both",
          "[quota][core]") {
  const auto counts = [](const char* op, const char* values, const std::string& claim) {
    return Counts(Selector("VolumeAttributesClass", op, values), "persistentvolumeclaims", claim);
  };
  CHECK(counts("In", R"(["gold"])", kMoving));
  CHECK(counts("In", R"(["silver"])", kMoving));
  CHECK(counts("NotIn", R"(["gold"])", kMoving));  // because of silver
  CHECK_FALSE(counts("NotIn", R"(["gold","silver"])", kMoving));
  CHECK_FALSE(counts("NotIn", R"(["gold"])", kGold));
  CHECK_FALSE(counts("DoesNotExist", "[]", kMoving));
  CHECK(counts("DoesNotExist", "[]", "{}"));
  CHECK(counts("NotIn", R"(["gold"])", "{}"));
  CHECK_FALSE(counts("In", R"(["gold"])", "{}"));
}

TEST_CASE("quota scopes: scopes and selector must both hold", "[quota][core]") {
  const auto with = [](const std::string& scopes, const std::string& op) {
    return R"({"scopes":)" + scopes + R"(,"scopeSelector":{"matchExpressions":[
        {"scopeName":"PriorityClass","operator":")" +
           op + R"(","values":["high"]}]}})";
  };
  CHECK(Counts(with(R"(["BestEffort"])", "In"), "pods", kHigh));
  CHECK_FALSE(Counts(with(R"(["BestEffort"])", "NotIn"), "pods", kHigh));
  CHECK_FALSE(Counts(with(R"(["NotBestEffort"])", "In"), "pods", kHigh));
  CHECK_FALSE(Counts(with(R"(["BestEffort","Terminating"])", "In"), "pods", kHigh));
  // The API server accepts this: it looks for conflicts in each of the two separately.
  const std::string nothing = R"({"scopes":["BestEffort"],"scopeSelector":{"matchExpressions":[
      {"scopeName":"NotBestEffort","operator":"Exists"}]}})";
  for (const std::string& pod : {kBare, kWithCpu, kHigh, kJob})
    CHECK_FALSE(Counts(nothing, "pods", pod));
}

TEST_CASE("quota scopes: the same scope twice must hold twice", "[quota][core]") {
  const std::string spec = R"({"scopeSelector":{"matchExpressions":[
      {"scopeName":"PriorityClass","operator":"In","values":["high","low"]},
      {"scopeName":"PriorityClass","operator":"NotIn","values":["low"]}]}})";
  CHECK(Counts(spec, "pods", kHigh));
  CHECK_FALSE(Counts(spec, "pods", R"({"spec":{"priorityClassName":"low"}})"));
}

TEST_CASE("quota scopes: a scope of another resource matches no object", "[quota][core]") {
  for (const char* op : {"Exists", "DoesNotExist"}) {
    CHECK_FALSE(Counts(Selector("VolumeAttributesClass", op, "[]"), "pods", kBare));
    CHECK_FALSE(Counts(Selector("PriorityClass", op, "[]"), "persistentvolumeclaims", kGold));
    CHECK_FALSE(Counts(Selector("Someday", op, "[]"), "pods", kBare));
    CHECK_FALSE(Counts(Selector("Someday", op, "[]"), "persistentvolumeclaims", kGold));
  }
  for (const char* resource : {"services", "secrets", "configmaps", "resourceclaims",
                               "replicationcontrollers", "resourcequotas"}) {
    INFO(resource);
    CHECK(Counts("{}", resource, "{}"));
    for (const char* scope :
         {"Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass",
          "CrossNamespacePodAffinity", "VolumeAttributesClass"}) {
      CHECK_FALSE(Counts(Scopes("[\"" + std::string(scope) + "\"]"), resource, "{}"));
    }
  }
}

TEST_CASE("quota scopes: other kinds are in no scope", "[quota][core]") {
  const auto counter = CoreQuotaApi().object_counter({"apps", "deployments"});
  REQUIRE(counter.has_value());
  CHECK(Matches({}, {}, counter->scopes));
  CHECK_FALSE(Matches({{.scope = "NotTerminating"}}, {}, counter->scopes));
}

}  // namespace
}  // namespace quota::quota_scopes_test
