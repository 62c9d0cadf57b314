// The evaluators that only count objects: configmaps, secrets, replicationcontrollers and
// resourcequotas.

#include <algorithm>
#include <string>

#include "pkg/quota/core/core_quota.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::core::object_counters_test {
namespace {

TEST_CASE("object counters: any object counts as one under the alias and the count/ name",
          "[quota][core]") {
  for (const std::string resource :
       {"configmaps", "secrets", "replicationcontrollers", "resourcequotas"}) {
    INFO(resource);
    const std::vector<Evaluator> all = AllEvaluators();
    const auto evaluator = std::ranges::find_if(all, [&](const Evaluator& candidate) {
      return candidate.resource == api::GroupResource{"", resource};
    });
    REQUIRE(evaluator != all.end());
    CHECK(evaluator->owns(resource));
    CHECK(evaluator->owns("count/" + resource));
    CHECK_FALSE(evaluator->owns("count/" + resource + ".apps"));
    CHECK(evaluator->fields.empty());  // listed and watched as metadata
    const auto facts = evaluator->facts_of(
        Json(R"({"metadata":{"deletionTimestamp":"2020-01-01T00:00:00Z"},"data":{"a":"b"}})"), {});
    REQUIRE(facts.has_value());
    CHECK(facts->now == Using({{resource, "1"}, {"count/" + resource, "1"}}));
    CHECK_FALSE(facts->later.has_value());
  }
}

}  // namespace
}  // namespace quota::core::object_counters_test
