// What pods must specify to be admitted, and guards of kinds that are only counted. The fixtures of
// "must specify" are those of kubernetes v1.36.3, pkg/quota/v1/evaluator/core/pods_test.go.

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/json/projection.h"
#include "pkg/quota/core/core_quota.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::guards_test {
namespace {

const Evaluator& EvaluatorOf(std::string_view resource) {
  static const QuotaApi api = CoreQuotaApi();
  for (const Evaluator& evaluator : api.evaluators) {
    if (evaluator.resource.resource == resource) return evaluator;
  }
  throw std::runtime_error("no evaluator of " + std::string(resource));
}

std::string Missing(const std::string& spec, const std::vector<std::string>& names) {
  return EvaluatorOf("pods").guard.constraints(Json(R"({"spec":)" + spec + "}"), names);
}

const char* const kTwo = R"({
  "initContainers":[{"name":"dummy","resources":{"requests":{"cpu":"1m"},"limits":{"cpu":"2m"}}}],
  "containers":[{"name":"b"},{"name":"a","resources":{"requests":{"memory":"0"}}}]})";

}  // namespace

TEST_CASE("guards: every container must specify limited cpu and memory", "[quota][core]") {
  CHECK(Missing(R"({"initContainers":[{"name":"dummy","resources":{"requests":{"cpu":"1m"}}}]})",
                {"memory"}) == "must specify memory for: dummy");
  CHECK(Missing(kTwo, {"cpu", "memory", "pods"}) ==
        "must specify cpu for: a,b; memory for: b,dummy");
  CHECK(Missing(kTwo, {"requests.memory", "requests.cpu"}) ==
        "must specify requests.cpu for: a,b; requests.memory for: b,dummy");
  CHECK(Missing(kTwo, {"limits.cpu", "limits.memory"}) ==
        "must specify limits.cpu for: a,b; limits.memory for: a,b,dummy");
}

TEST_CASE("guards: the text has resources and containers in order", "[quota][core]") {
  const std::string two = R"({"containers":[{"name":"foo"},{"name":"bar"}]})";
  CHECK(Missing(two, {"memory"}) == "must specify memory for: bar,foo");
  CHECK(Missing(two, {"memory", "cpu"}) == "must specify cpu for: bar,foo; memory for: bar,foo");
}

TEST_CASE("guards: containers with the same name are listed once", "[quota][core]") {
  CHECK(Missing(R"({"containers":[{"name":"a"}],"initContainers":[{"name":"a"}]})", {"cpu"}) ==
        "must specify cpu for: a");
}

TEST_CASE("guards: only cpu and memory can be required", "[quota][core]") {
  CHECK(Missing(kTwo, {"pods", "count/pods", "ephemeral-storage", "requests.ephemeral-storage",
                       "hugepages-2Mi", "requests.example.com/gpu"}) == "");
  CHECK(Missing(kTwo, {}) == "");
  CHECK(Missing("{}", {"cpu"}) == "");
}

TEST_CASE("guards: a pod with pod-level resources need not specify them in containers",
          "[quota][core]") {
  const auto with = [](const std::string& resources) {
    return Missing(R"({"containers":[{"name":"a"}],"resources":)" + resources + "}", {"memory"});
  };
  CHECK(with(R"({"requests":{"cpu":"1"}})") == "");
  CHECK(with(R"({"limits":{"hugepages-2Mi":"4Mi"}})") == "");
  CHECK(with(R"({"requests":{"ephemeral-storage":"1Gi"}})") == "must specify memory for: a");
  CHECK(with("{}") == "must specify memory for: a");
}

TEST_CASE("guards: a null amount is a zero, and a zero is specified", "[quota][core]") {
  CHECK(Missing(R"({"containers":[{"name":"a","resources":{
                    "requests":{"cpu":null,"memory":"0"}}}]})",
                {"cpu", "memory"})
            .empty());
}

TEST_CASE("guards: overhead does not specify an amount", "[quota][core]") {
  CHECK(Missing(R"({"containers":[{"name":"a"}],"overhead":{"cpu":"1"}})", {"cpu"}) ==
        "must specify cpu for: a");
}

TEST_CASE("guards: the fields that constraints read are decoded", "[quota][core]") {
  const Evaluator& pods = EvaluatorOf("pods");
  std::vector<std::string> fields = pods.fields;
  fields.insert(fields.end(), pods.guard.fields.begin(), pods.guard.fields.end());
  const json::Projection projection(fields);
  const auto pod = json::ParseProjected(std::string(R"({"spec":)") + kTwo + "}", projection);
  REQUIRE(pod.has_value());
  CHECK(pods.guard.constraints(*pod, {"cpu", "memory"}) ==
        "must specify cpu for: a,b; memory for: b,dummy");
}

TEST_CASE("guards: no update of a kind that is only counted can need more", "[quota][core]") {
  for (const char* resource :
       {"configmaps", "secrets", "replicationcontrollers", "resourcequotas"}) {
    INFO(resource);
    const Guard& guard = EvaluatorOf(resource).guard;
    CHECK_FALSE(guard.updates);
    CHECK(guard.subresources.empty());
    CHECK(guard.constraints == nullptr);
  }
  CHECK(EvaluatorOf("pods").guard.subresources == std::vector<std::string>{"resize"});
}

}  // namespace quota::guards_test
