// Definitions that add names and scopes to kinds that the program counts itself.

#include "pkg/quota/usage/extended_evaluator.h"

#include <catch2/catch.hpp>

#include "pkg/quota/core/core_quota.h"
#include "pkg/quota/scope.h"
#include "tests/pkg/quota/guard_testing.h"
#include "tests/pkg/quota/usage/usage_testing.h"

namespace quota::usage {
namespace {

constexpr const char* kGpuMemory =
    R"("usage":[{"name":"acme.io/gpu-memory","path":".metadata.annotations['acme.io/gpu-memory']",
        "default":"0"}],
       "scopes":[{"name":"acme.io/gpu","path":".spec.nodeSelector['acme.io/gpu']"}])";

std::shared_ptr<const Evaluator> BuiltIn(const std::string& resource) {
  auto evaluator = CoreQuotaApi().evaluators.Find({"", resource});
  REQUIRE(evaluator != nullptr);
  return evaluator;
}

UsageDefinition DefinitionOf(const std::string& resource, const std::string& spec) {
  const auto definition = ParseUsageDefinition(Json(R"({"metadata":{"name":")" + resource +
                                                    R"("},"spec":{"resource":{"resource":")" +
                                                    resource + R"("},)" + spec + "}}"));
  REQUIRE(definition.has_value());
  return *definition;
}

Evaluator With(const std::string& resource, const std::string& spec) {
  const UsageDefinition definition = DefinitionOf(resource, spec);
  REQUIRE(WhyNotExtended(*BuiltIn(resource), definition).empty());
  return Extended(BuiltIn(resource), EvaluatorOf(definition));
}

json::Value Pod(const std::string& gpu, const std::string& memory,
                const std::string& status = "{}") {
  json::Value pod = Json(R"({"spec":{"containers":[{"name":"c","resources":
      {"requests":{"cpu":"2"}}}]},"metadata":{"name":"p"},"status":)" +
                         status + "}");
  if (!gpu.empty()) pod.Make({"spec", "nodeSelector", "acme.io/gpu"}) = gpu;
  if (!memory.empty()) pod.Make({"metadata", "annotations", "acme.io/gpu-memory"}) = memory;
  return pod;
}

TEST_CASE("extended evaluator: a pod counts under Kubernetes' names and those of a definition",
          "[usage]") {
  const Evaluator pods = With("pods", kGpuMemory);
  for (const char* name : {"pods", "count/pods", "requests.cpu", "acme.io/gpu-memory"}) {
    CHECK(pods.owns(name));
  }
  const ObjectFacts facts = FactsOf(pods, Pod("a100", "40Gi"));
  CHECK(facts.now.usage.ToString() ==
        "acme.io/gpu-memory=40Gi,count/pods=1,cpu=2,pods=1,requests.cpu=2");
  const ScopeSelector a100 = {
      {.scope = "acme.io/gpu", .op = ScopeOperator::kIn, .values = {"a100"}}};
  CHECK(MatchesObject(a100, facts.now, pods.scopes));
  CHECK_FALSE(MatchesObject(a100, FactsOf(pods, Pod("t4", "")).now, pods.scopes));
  CHECK_FALSE(MatchesObject(a100, FactsOf(pods, Pod("", "")).now, pods.scopes));
  const ScopeSelector burstable = {{.scope = "NotBestEffort"}};
  CHECK(MatchesObject(burstable, facts.now, pods.scopes));
}

TEST_CASE("extended evaluator: the fields that both read are enough", "[usage]") {
  const Evaluator pods = With("pods", kGpuMemory);
  const std::string text = json::Write(Pod("a100", "40Gi", R"({"phase":"Running"})"));
  const auto projected = json::ParseProjected(text, json::Projection(pods.fields));
  REQUIRE(projected.has_value());
  CHECK(FactsOf(pods, *projected).now == FactsOf(pods, Json(text)).now);
}

TEST_CASE("extended evaluator: a pod that has ended, or will have, uses nothing", "[usage]") {
  const Evaluator pods = With("pods", kGpuMemory);
  const ObjectFacts ended = FactsOf(pods, Pod("a100", "40Gi", R"({"phase":"Succeeded"})"));
  CHECK(ended.now.usage.ToString() == "count/pods=1");
  CHECK(std::ranges::find(ended.now.attributes, Attribute("acme.io/gpu", "a100")) !=
        ended.now.attributes.end());
  // What cannot be read of it does not matter any more.
  const ObjectFacts unread = FactsOf(pods, Pod("", "many", R"({"phase":"Failed"})"));
  CHECK(unread.now.unread.empty());
  CHECK(unread.flaw.empty());

  json::Value deleted = Pod("a100", "40Gi");
  deleted.Make({"metadata", "deletionTimestamp"}) = "2026-01-01T00:00:00Z";
  deleted.Make({"metadata", "deletionGracePeriodSeconds"}) = 30;
  const auto leaving = pods.facts_of(deleted, {.now = base::WallTime{}});
  REQUIRE(leaving.has_value());
  CHECK(leaving->now.usage.Get("acme.io/gpu-memory").ToString() == "40Gi");
  REQUIRE(leaving->later.has_value());
  CHECK(leaving->later->facts.usage.ToString() == "count/pods=1");
  CHECK(leaving->later->facts.attributes == leaving->now.attributes);
}

TEST_CASE("extended evaluator: what cannot be read concerns its own names", "[usage]") {
  const Evaluator pods = With("pods", kGpuMemory);
  const ObjectFacts facts = FactsOf(pods, Pod("", "many"));
  CHECK(facts.now.unread == std::vector<std::string>{"acme.io/gpu-memory"});
  CHECK_THAT(facts.flaw, Catch::Contains("acme.io/gpu-memory"));
  CHECK(facts.now.usage.Get("pods") == Quantity::FromInt(1));

  json::Value both = Pod("", "many");
  both.Make({"spec", "containers"}) =
      Json(R"([{"name":"c","resources":{"requests":{"cpu":"much"}}}])");
  const std::vector<std::string> names = {"acme.io/gpu-memory", "cpu", "requests.cpu"};
  CHECK(FactsOf(pods, both).now.unread == names);
}

TEST_CASE("extended evaluator: an update of what either reads is asked about", "[usage]") {
  const Evaluator pods = With("pods", kGpuMemory);
  const std::string& condition = pods.guard.update_condition;
  CHECK_THAT(condition, Catch::Contains("activeDeadlineSeconds) != "));
  CHECK_THAT(condition, Catch::Contains("nodeSelector"));
  CHECK_THAT(condition, Catch::Contains("acme.io/gpu-memory"));
  CHECK(pods.guard.subresources == std::vector<std::string>{"resize"});
  CHECK(pods.guard.shares("requests.example.com/gpu"));
  // Kinds whose updates Kubernetes' names do not care about.
  const Evaluator maps = With("configmaps", R"("usage":[{"name":"acme.io/n","path":".data.n"}])");
  CHECK(
      maps.guard.update_condition ==
      EvaluatorOf(DefinitionOf("configmaps", R"("usage":[{"name":"acme.io/n","path":".data.n"}])"))
          .guard.update_condition);
  CHECK(maps.fields == std::vector<std::string>{"data.n#"});
}

TEST_CASE("extended evaluator: at admission a status is the stored one", "[usage]") {
  const Evaluator pods = With(
      "pods", R"("usage":[{"name":"acme.io/restarts","path":".status.restarts","default":"0"}])");
  REQUIRE(pods.guard.facts_of);
  const json::Value stored = Pod("", "", R"({"restarts":2})");
  const json::Value claimed = Pod("", "", R"({"restarts":9})");
  const auto facts = pods.guard.facts_of(claimed, &stored, {});
  REQUIRE(facts.has_value());
  CHECK(facts->now.usage.ToString() ==
        "acme.io/restarts=2,count/pods=1,cpu=2,pods=1,requests.cpu=2");
}

TEST_CASE("extended evaluator: its paths are those of one version", "[usage]") {
  Evaluator defined = EvaluatorOf(
      DefinitionOf("replicationcontrollers", R"("usage":[{"name":"acme.io/n","path":".spec.n"}])"));
  defined.version = "v1";
  const Evaluator scaled = Extended(BuiltIn("replicationcontrollers"), std::move(defined));
  CHECK(scaled.version == "v1");
  CHECK(scaled.guard.subresources == std::vector<std::string>{"scale"});
}

TEST_CASE("extended evaluator: what is refused whatever is limited stays so", "[usage]") {
  const Evaluator pods = With("pods", R"("usage":[{"name":"acme.io/n",
      "path":".metadata.annotations.n","default":"0"}],"countsWhile":{"path":".status.phase",
      "notIn":["Succeeded"],"statusSubresourceOnly":true})");
  json::Value claims = Pod("", "", R"({"phase":"Succeeded"})");
  claims.Make({"spec", "containers"}) =
      Json(R"([{"name":"c","resources":{"requests":{"cpu":"much"}}}])");
  const json::Value stored = Pod("", "", R"({"phase":"Running"})");
  const auto facts = pods.guard.facts_of(claims, &stored, {});
  REQUIRE(facts.has_value());
  CHECK_THAT(facts->flaw, Catch::Contains("is written to the subresource status only"));
  CHECK(facts->now.unread.empty());
}

TEST_CASE("extended evaluator: Secrets are not read, and no kind has two classes", "[usage]") {
  CHECK(WhyNotExtended(
            *BuiltIn("secrets"),
            DefinitionOf("secrets", R"("usage":[{"name":"acme.io/n","path":".data.n"}])")) ==
        "the daemon does not read what Secrets contain");
  const auto claims = CoreQuotaApi().evaluators.Find({"resource.k8s.io", "resourceclaims"});
  REQUIRE(claims != nullptr);
  const UsageDefinition priced = OneName(
      R"("class":{"path":".spec.tier","resource":{"group":"acme.io","resource":"tiers"},"field":".n"})");
  CHECK(WhyNotExtended(*claims, priced).empty() == !claims->classes.has_value());
  CHECK(WhyNotExtended(*BuiltIn("pods"), priced).empty());
}

}  // namespace
}  // namespace quota::usage
