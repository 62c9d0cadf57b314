#include <string>
#include <vector>

#include "pkg/quota/evaluator.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::core::persistentvolumeclaims {

Evaluator MakeEvaluator();

namespace {

TEST_CASE("claims: counted twice, in the classes they refer to", "[quota][core]") {
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
      {"the target alone",
       R"({"status":{"modifyVolumeStatus":{
           "targetVolumeAttributesClassName":"bronze"}}})",
       {"bronze"}},
  };
  const Evaluator evaluator = MakeEvaluator();
  for (const Row& row : rows) {
    INFO(row.name);
    const auto facts = evaluator.facts_of(Json(row.claim), base::WallTime());
    REQUIRE(facts.has_value());
    CHECK(facts->now.usage ==
          List({{"persistentvolumeclaims", "1"}, {"count/persistentvolumeclaims", "1"}}));
    std::vector<Attribute> expected;
    for (const std::string& name : row.classes) {
      expected.emplace_back("VolumeAttributesClass", name);
    }
    CHECK(facts->now.attributes == expected);
  }
}

}  // namespace
}  // namespace quota::core::persistentvolumeclaims
