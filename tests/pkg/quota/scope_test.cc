#include "pkg/quota/scope.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace quota::scope_test {
namespace {

const std::vector<std::string> kKnown = {"BestEffort", "PriorityClass", "VolumeAttributesClass"};

bool Holds(const std::vector<Attribute>& attributes, ScopeOperator op,
           const std::vector<std::string>& values, const std::string& scope = "PriorityClass") {
  return Matches({{.scope = scope, .op = op, .values = ScopeValues(values)}}, attributes, kKnown);
}

TEST_CASE("scope: each operator works with one class", "[quota]") {
  const std::vector<Attribute> high = {{"PriorityClass", "high"}};
  const std::vector<Attribute> none = {{"BestEffort", ""}};
  struct Row {
    ScopeOperator op;
    std::vector<std::string> values;
    bool with_class;
    bool without_class;
  };
  const Row rows[] = {
      {ScopeOperator::kIn, {"high", "low"}, true, false},
      {ScopeOperator::kIn, {"low"}, false, false},
      {ScopeOperator::kNotIn, {"low"}, true, true},
      // An object without any class is in no list.
      {ScopeOperator::kNotIn, {"high"}, false, true},
      {ScopeOperator::kExists, {}, true, false},
      {ScopeOperator::kDoesNotExist, {}, false, true},
  };
  for (const Row& row : rows) {
    INFO("operator " << static_cast<int>(row.op));
    CHECK(Holds(high, row.op, row.values) == row.with_class);
    CHECK(Holds(none, row.op, row.values) == row.without_class);
  }
}

TEST_CASE("scope: any of several classes may satisfy a requirement", "[quota]") {
  const std::vector<Attribute> moving = {{"VolumeAttributesClass", "gold"},
                                         {"VolumeAttributesClass", "silver"}};
  const std::string scope = "VolumeAttributesClass";
  CHECK(Holds(moving, ScopeOperator::kIn, {"gold"}, scope));
  CHECK(Holds(moving, ScopeOperator::kIn, {"silver"}, scope));
  CHECK(Holds(moving, ScopeOperator::kNotIn, {"gold"}, scope));
  CHECK_FALSE(Holds(moving, ScopeOperator::kNotIn, {"gold", "silver"}, scope));
  CHECK_FALSE(Holds(moving, ScopeOperator::kDoesNotExist, {}, scope));
}

TEST_CASE("scope: all requirements must hold, and no requirements match everything", "[quota]") {
  const std::vector<Attribute> attributes = {{"BestEffort", ""}, {"PriorityClass", "b"}};
  CHECK(Matches({}, attributes, {}));
  const ScopeRequirement best_effort{.scope = "BestEffort"};
  const ScopeRequirement in_ab{"PriorityClass", ScopeOperator::kIn, {"a", "b"}};
  const ScopeRequirement not_b{"PriorityClass", ScopeOperator::kNotIn, {"b"}};
  CHECK(Matches({best_effort, in_ab}, attributes, kKnown));
  CHECK_FALSE(Matches({best_effort, in_ab, not_b}, attributes, kKnown));
}

TEST_CASE("scope: a scope that the evaluator does not know never matches", "[quota]") {
  // Even an operator that asks for absence does not match: a claim is not a pod without a priority
  // class.
  CHECK_FALSE(Matches({{"PriorityClass", ScopeOperator::kDoesNotExist, {}}}, {}, {}));
  CHECK_FALSE(Matches({{"PriorityClass", ScopeOperator::kNotIn, {"a"}}}, {}, {"BestEffort"}));
}

TEST_CASE("scope: a class name too long for a label is compared like any other", "[quota]") {
  const std::string name(100, 'x');
  CHECK(Holds({{"PriorityClass", name}}, ScopeOperator::kIn, {name}));
}

TEST_CASE("scope: values are found whatever their order and length, whole or as they are kept",
          "[quota]") {
  std::vector<std::string> listed;
  for (int i = 1000; i > 0; --i) listed.push_back(std::string(i % 130, 'x') + std::to_string(i));
  for (const std::string& value : listed) {
    std::string kept = value;
    KeepScopeValue(kept);
    std::string other = value + "?";
    for (const std::string& held : {value, kept}) {
      CHECK(Holds({{"PriorityClass", held}}, ScopeOperator::kIn, listed));
      CHECK_FALSE(Holds({{"PriorityClass", held}}, ScopeOperator::kNotIn, listed));
    }
    CHECK_FALSE(Holds({{"PriorityClass", other}}, ScopeOperator::kIn, listed));
    KeepScopeValue(other);
    CHECK_FALSE(Holds({{"PriorityClass", other}}, ScopeOperator::kIn, listed));
  }
}

}  // namespace
}  // namespace quota::scope_test
