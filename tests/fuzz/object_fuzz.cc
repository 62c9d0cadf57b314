// An object of any counted kind, or of a class, "====", its older state: the facts that evaluators
// find are valid, and the same from their fields as from the whole object.

#include <algorithm>
#include <map>

#include "pkg/api/time.h"
#include "pkg/json/projection.h"
#include "tests/fuzz/evaluators.h"
#include "tests/fuzz/target.h"

namespace {

using quota::Evaluator;
using quota::Facts;
using quota::ObjectFacts;
using FactsResult = base::Result<ObjectFacts>;

base::WallTime Now() {
  static const base::WallTime now = *api::ParseTime("2026-01-02T03:04:05Z");
  return now;
}

void CheckAmounts(const quota::ResourceList& usage, bool no_minus) {
  for (const auto& [name, amount] : usage) {
    fuzz::Require(!no_minus || amount.Sign() >= 0, "nothing negative of nothing negative");
  }
}

void CheckFacts(const Facts& facts, bool no_minus) {
  CheckAmounts(facts.usage, no_minus);
  fuzz::Require(std::ranges::is_sorted(facts.attributes), "attributes are sorted");
  for (std::size_t i = 1; i < facts.classes.size(); ++i) {
    fuzz::Require(facts.classes[i - 1].name < facts.classes[i].name, "each class once, sorted");
  }
  quota::ResourceList sum;
  for (const quota::Part& part : facts.parts) {
    CheckAmounts(part.usage, no_minus);
    fuzz::Require(std::ranges::is_sorted(part.attributes), "attributes of parts are sorted");
    sum.Add(part.usage);
  }
  if (!facts.parts.empty()) {
    fuzz::RequireSame(sum.ToString(), facts.usage.ToString(), "the parts are the whole");
  }
  const quota::ClassTable none;
  (void)none.Resolve(facts);
  fuzz::Require(Facts(facts).Hash() == facts.Hash(), "equal facts have one hash");
}

bool SameFacts(const ObjectFacts& a, const ObjectFacts& b) {
  const bool same_later =
      a.later.has_value() == b.later.has_value() &&
      (!a.later || (a.later->at == b.later->at && a.later->facts == b.later->facts));
  return a.now == b.now && same_later && a.tie == b.tie && a.flaw == b.flaw;
}

void CheckSame(const FactsResult& a, const FactsResult& b, const char* what) {
  fuzz::Require(a.has_value() == b.has_value(), what);
  if (a) {
    fuzz::Require(SameFacts(*a, *b), what);
  } else {
    fuzz::RequireSame(a.error().message, b.error().message, what);
  }
}

// An announced later change happens at that time, and nothing else does.
void CheckLater(const Evaluator& evaluator, const json::Value& object, const ObjectFacts& facts,
                bool no_minus) {
  if (!facts.later) return;
  fuzz::Require(facts.later->at > Now(), "later is not now");
  CheckFacts(facts.later->facts, no_minus);
  const FactsResult then = evaluator.facts_of(object, {facts.later->at});
  fuzz::Require(then && then->now == facts.later->facts, "later as announced");
  fuzz::Require(!then->later, "once");
  const FactsResult before =
      evaluator.facts_of(object, {facts.later->at - base::WallTime::duration(1)});
  fuzz::Require(before && SameFacts(*before, facts), "and not before");
}

struct NamedFields {
  explicit NamedFields(const Evaluator& evaluator) : watched(fuzz::WithIdentity(evaluator.fields)) {
    std::vector<std::string> fields = fuzz::WithIdentity(evaluator.fields);
    fields.insert(fields.end(), evaluator.guard.fields.begin(), evaluator.guard.fields.end());
    at_admission = json::Projection(fields);
  }
  json::Projection watched;
  json::Projection at_admission{{}};
};

const NamedFields& FieldsOf(const Evaluator& evaluator) {
  static std::map<const Evaluator*, NamedFields> made;
  return made.try_emplace(&evaluator, evaluator).first->second;
}

void CheckAdmission(const Evaluator& evaluator, const json::Value& object,
                    const json::Value& projected, const json::Value* old) {
  const quota::Guard& guard = evaluator.guard;
  if (guard.facts_of) {
    CheckSame(guard.facts_of(object, old, {Now()}), guard.facts_of(projected, old, {Now()}),
              "facts at admission from the named fields");
  }
  if (!guard.constraints) return;
  const std::vector<std::string> names = {
      "cpu",  "limits.cpu",   "limits.memory",   "memory",
      "pods", "requests.cpu", "requests.memory", "requests.storage"};
  fuzz::RequireSame(guard.constraints(projected, names), guard.constraints(object, names),
                    "constraints from the named fields");
}

void CheckClass(std::string_view text, const json::Value& object) {
  const quota::ClassSource* const source = fuzz::ClassSourceOf(object);
  if (source == nullptr) return;
  const auto usage = source->usage_of(object);
  const json::Projection fields(fuzz::WithIdentity(source->fields));
  const auto projected = source->usage_of(*json::ParseProjected(text, fields));
  fuzz::Require(usage.has_value() == projected.has_value() && (!usage || *usage == *projected),
                "usage of a class from the named fields");
  quota::ClassTable table;
  table.Set("c", usage);
  fuzz::Require(!table.Set("c", usage), "what is known changes nothing");
  Facts one;
  one.classes.push_back({"c", 1});
  const auto resolved = table.Resolve(one);
  const bool known = usage.has_value() && usage->unknown.empty();
  fuzz::Require(resolved.has_value() == known, "known as far as it is said");
  if (resolved) fuzz::Require(*resolved == usage->amounts, "one unit uses what the class says");
}

FUZZ_TARGET(object) {
  const auto parts = fuzz::Parts(input, 2);
  const auto object = json::Parse(parts[0]);
  if (!object || !object->IsObject()) return;
  const Evaluator& evaluator = fuzz::EvaluatorOf(*object);
  const bool no_minus = fuzz::HasNoMinus(*object);
  const FactsResult facts = evaluator.facts_of(*object, {Now()});
  if (facts) {
    CheckFacts(facts->now, no_minus);
    CheckLater(evaluator, *object, *facts, no_minus);
  } else {
    fuzz::Require(facts.error().Is(base::ErrorCode::kMalformed), "an error says what is malformed");
  }
  const auto projected = json::ParseProjected(parts[0], FieldsOf(evaluator).watched);
  CheckSame(evaluator.facts_of(*projected, {Now()}), facts, "facts from the named fields");

  const auto old = json::Parse(parts[1]);
  const auto for_admission = json::Skim(parts[0], FieldsOf(evaluator).at_admission);
  fuzz::Require(for_admission.has_value(), "what parses can be skimmed");
  CheckAdmission(evaluator, *object, *for_admission, old ? &*old : nullptr);
  CheckClass(parts[0], *object);
}

}  // namespace
