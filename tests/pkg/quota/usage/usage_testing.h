#pragma once

// Short forms for tests of pkg/quota/usage. The tests count boxes.acme.io.

#include <initializer_list>
#include <string>
#include <string_view>

#include "pkg/json/projection.h"
#include "pkg/quota/usage/defined_evaluator.h"
#include "pkg/quota/usage/usage_definition.h"
#include "tests/pkg/quota/quota_testing.h"

namespace quota::usage {

inline FieldPath Path(std::string_view text) {
  INFO(text);
  auto path = FieldPath::Parse(text);
  REQUIRE(path.has_value());
  return *path;
}

// A definition with this spec beside the resource: R"("usage":[…])".
inline json::Value Document(std::string_view spec) {
  return Json(std::string(R"({"metadata":{"name":"boxes.acme.io"},"spec":{)")
                  .append(R"("resource":{"group":"acme.io","resource":"boxes"},)")
                  .append(spec)
                  .append("}}"));
}

inline UsageDefinition Defined(std::string_view spec) {
  INFO(spec);
  const auto definition = ParseUsageDefinition(Document(spec));
  INFO((definition ? "" : definition.error().message));
  REQUIRE(definition.has_value());
  json::Value again = Document(spec);
  again.Make({"spec"}) = SpecOf(*definition);
  INFO(json::Write(again));
  const auto same = ParseUsageDefinition(again);
  CHECK((same && *same == *definition));
  return *definition;
}

// The definition of acme.io/n with these members: R"("path":".spec.n")".
inline UsageDefinition OneName(std::string_view members) {
  return Defined(std::string(R"("usage":[{"name":"acme.io/n",)").append(members).append("}]"));
}

inline ObjectFacts FactsOf(const Evaluator& evaluator, const json::Value& object) {
  const auto facts = evaluator.facts_of(object, {});
  REQUIRE(facts.has_value());
  return *facts;
}

// The facts, which both decoders give, too.
inline ObjectFacts FactsOf(const UsageDefinition& definition, std::string_view object) {
  INFO(object);
  const Evaluator evaluator = EvaluatorOf(definition);
  const json::Projection fields(evaluator.fields);
  ObjectFacts facts = FactsOf(evaluator, Json(object));
  for (const auto& decoded : {json::ParseProjected(object, fields), json::Skim(object, fields)}) {
    REQUIRE(decoded.has_value());
    const ObjectFacts projected = FactsOf(evaluator, *decoded);
    CHECK(projected.now == facts.now);
    CHECK(projected.flaw == facts.flaw);
  }
  return facts;
}

// What an object with this spec uses under acme.io/n: "3", or the flaw if that is not known.
inline std::string AmountOf(const UsageDefinition& definition, std::string_view spec) {
  const ObjectFacts facts =
      FactsOf(definition, std::string(R"({"spec":)").append(spec).append("}"));
  CHECK(facts.now.usage.Get("count/boxes.acme.io") == Quantity::FromInt(1));
  const Quantity* amount = facts.now.usage.Find("acme.io/n");
  if (amount != nullptr) {
    CHECK(facts.now.unread.empty());
    CHECK(facts.flaw.empty());
    return amount->ToString();
  }
  if (facts.flaw.empty()) return "nothing";
  CHECK(facts.now.unread == std::vector<std::string>{"acme.io/n"});
  return facts.flaw;
}

}  // namespace quota::usage
