// A UsageDefinition, "====", an object of its kind, "====", its older state: paths say the same in
// all their forms; the facts are valid, the same from the named fields as from the whole object,
// and as added up here; an update that the condition spares changes nothing.

#include "pkg/quota/usage/usage_definition.h"

#include <algorithm>
#include <optional>

#include "pkg/json/projection.h"
#include "pkg/quota/usage/defined_evaluator.h"
#include "pkg/quota/usage/field_walk.h"
#include "tests/fuzz/target.h"

namespace {

using quota::Evaluator;
using quota::Facts;
using quota::ObjectFacts;
using quota::Quantity;
using quota::usage::Amount;
using quota::usage::FieldPath;
using quota::usage::UsageDefinition;
using Values = std::vector<const json::Value*>;  // null: a missing one

std::vector<FieldPath> PathsOf(const UsageDefinition& definition) {
  std::vector<FieldPath> paths;
  for (const Amount& amount : definition.amounts) {
    if (amount.path) paths.push_back(*amount.path);
    if (amount.times) paths.push_back(*amount.times);
    if (amount.of_class) paths.push_back(amount.of_class->path);
  }
  if (definition.counts_while) paths.push_back(definition.counts_while->path);
  for (const auto& scope : definition.scopes) paths.push_back(scope.path);
  return paths;
}

void CheckPath(const FieldPath& path) {
  std::string brackets = ".";
  const json::Projection projection({path.Projected()});
  const json::Projection::Node* node = &projection.root();
  for (const FieldPath::Step& step : path.steps()) {
    brackets += step.each ? "[*]" : "['" + step.name + "']";
    if (step.each) continue;
    fuzz::Require(!node->whole && node->members.size() == 1, "one name for each step");
    fuzz::RequireSame(node->members[0].first, step.name, "the name of the step is watched");
    node = node->members[0].second.get();
  }
  fuzz::Require(node->whole, "the field is watched with all below");
  const auto again = FieldPath::Parse(brackets);
  const bool too_long = brackets.size() > FieldPath::kMostBytes;
  fuzz::Require(too_long || (again && *again == path), "the same with names in brackets");
  const std::string cel = FieldPath::ToCel("object", path.Named());
  fuzz::Require(std::ranges::count(cel, '\'') % 2 == 0, "quotes in CEL are closed");
  fuzz::Require(cel.find_first_of(" \\\"\n") == std::string::npos, "nothing else is in CEL");
}

// What is at the first `steps` of the path, in every element of the lists. Nullopt: something on
// the way is of another type, or there are too many elements.
std::optional<Values> ValuesAt(const json::Value& object, FieldPath::Steps steps,
                               std::size_t most_elements) {
  Values values = {&object};
  std::size_t elements = 0;
  for (const FieldPath::Step& step : steps) {
    Values next;
    for (const json::Value* value : values) {
      if (value != nullptr && value->IsNull()) value = nullptr;
      if (value == nullptr) {
        if (!step.each) next.push_back(nullptr);
      } else if (step.each) {
        if (!value->IsArray()) return std::nullopt;
        elements += value->AsArray()->size();
        for (const json::Value& element : *value->AsArray()) next.push_back(&element);
      } else {
        if (!value->IsObject()) return std::nullopt;
        next.push_back(value->AsObject()->Find(step.name));
      }
    }
    values = std::move(next);
  }
  if (elements > most_elements) return std::nullopt;
  return values;
}

std::optional<Quantity> ReadAmount(const json::Value& value) {
  std::string text;
  if (value.IsNumber()) {
    text = value.AsNumber()->text;
  } else if (value.IsString()) {
    text = *value.AsString();
    text.erase(0, text.find_first_not_of(' '));
    text.erase(text.find_last_not_of(' ') + 1);
  }
  const auto amount = Quantity::Parse(text);
  if (!amount || amount->Sign() < 0) return std::nullopt;
  return *amount;
}

// The amount without a number of times, added up in another way; nullopt: unknown.
std::optional<Quantity> Sum(const json::Value& object, const Amount& amount,
                            std::size_t most_elements) {
  const auto values = ValuesAt(object, amount.path->steps(), most_elements);
  if (!values) return std::nullopt;
  Quantity sum;
  for (const json::Value* value : *values) {
    const bool missing = value == nullptr || value->IsNull();
    const auto one = missing ? amount.otherwise : ReadAmount(*value);
    if (!one) return std::nullopt;
    sum = sum.Add(*one);
  }
  return sum;
}

bool Ignores(const UsageDefinition& definition) {
  return definition.invalid == quota::usage::InvalidAmount::kIgnore;
}

void CheckSums(const UsageDefinition& definition, const json::Value& object, const Facts& facts) {
  for (const Amount& amount : definition.amounts) {
    const bool known = facts.usage.Find(amount.name) != nullptr;
    const bool unread = std::ranges::binary_search(facts.unread, amount.name);
    if (definition.counts_while && !known && !unread) continue;
    fuzz::Require(!amount.of_class || !known, "an amount of a class is in the class");
    if (amount.of_class) continue;
    fuzz::Require(known != unread || (!known && Ignores(definition)), "an amount is known or not");
    if (amount.times) continue;
    const auto sum = Sum(object, amount, quota::usage::MostElements(definition));
    fuzz::Require(sum.has_value() == known, "known if all amounts can be read");
    fuzz::Require(!sum || *sum == facts.usage.Get(amount.name), "the sum of all values");
  }
}

void CheckFacts(const UsageDefinition& definition, const Evaluator& evaluator,
                const ObjectFacts& all) {
  const Facts& facts = all.now;
  if (Ignores(definition)) {
    fuzz::Require(facts.unread.empty(), "an invalid amount is ignored");
  } else {
    fuzz::Require(all.flaw.empty() == facts.unread.empty(), "a flaw says why a name is unknown");
  }
  fuzz::Require(all.flaw.size() < 4096, "a flaw is short");
  fuzz::Require(facts.usage.Find("count/" + evaluator.resource.ToString()) != nullptr, "counted");
  for (const auto& [name, amount] : facts.usage) {
    fuzz::Require(evaluator.owns(name) && amount.Sign() >= 0, "owned, and not negative");
  }
  for (std::size_t i = 0; i < facts.unread.size(); ++i) {
    fuzz::Require(i == 0 || facts.unread[i - 1] < facts.unread[i], "unknown names, each once");
    fuzz::Require(evaluator.owns(facts.unread[i]), "an unknown name is owned");
    fuzz::Require(facts.usage.Find(facts.unread[i]) == nullptr, "what is unknown has no amount");
  }
  fuzz::Require(facts.classes.size() <= quota::usage::kMostClasses, "few classes");
  for (std::size_t i = 0; i < facts.classes.size(); ++i) {
    fuzz::Require(facts.classes[i].units > 0, "units of a class");
    fuzz::Require(i == 0 || facts.classes[i - 1].name < facts.classes[i].name, "classes in order");
  }
  fuzz::Require(std::ranges::is_sorted(facts.attributes), "attributes are sorted");
  for (const auto& [scope, value] : facts.attributes) {
    fuzz::Require(std::ranges::count(evaluator.scopes, scope) == 1, "an attribute is of a scope");
    fuzz::Require(!value.empty() && value.size() <= quota::usage::kMostScopeValue + 3,
                  "with a short value");
  }
}

bool Same(const ObjectFacts& a, const ObjectFacts& b) { return a.now == b.now && a.flaw == b.flaw; }

ObjectFacts Admitted(const Evaluator& evaluator, const json::Value& object,
                     const json::Value* stored) {
  if (!evaluator.guard.facts_of) return *evaluator.facts_of(object, {});
  return *evaluator.guard.facts_of(object, stored, {});
}

// True if a write of the object itself must not change the field, although it is in the status.
bool IsGuarded(const UsageDefinition& definition, const FieldPath& path) {
  return definition.counts_while && definition.counts_while->status_subresource_only &&
         definition.counts_while->path == path;
}

// The texts that the condition compares.
std::string Compared(const UsageDefinition& definition, const json::Value& object) {
  std::string text;
  for (const FieldPath& path : PathsOf(definition)) {
    if (path.IsInStatus() && !IsGuarded(definition, path)) continue;
    const auto end = std::ranges::find_if(path.steps(), &FieldPath::Step::each);
    const auto before = static_cast<std::size_t>(end - path.steps().begin());
    const auto values = ValuesAt(object, path.steps().first(before), quota::usage::kMostElements);
    if (!values) return "differs from all";
    text += values->front() == nullptr ? "absent" : json::Write(*values->front());
    text += "\n";
  }
  return text;
}

void CheckAdmission(const UsageDefinition& definition, const Evaluator& evaluator,
                    const json::Value& object, const json::Value& projected,
                    const json::Value* stored) {
  const ObjectFacts admitted = Admitted(evaluator, object, stored);
  fuzz::Require(Same(Admitted(evaluator, projected, stored), admitted),
                "facts at admission from the named fields");
  json::Value claims = object;
  if (claims.IsObject()) claims.AsObject()->Erase("status");
  const ObjectFacts without = Admitted(evaluator, claims, stored);
  const auto is_refused = [&](const ObjectFacts& facts) {
    return definition.counts_while && definition.counts_while->status_subresource_only &&
           facts.flaw.ends_with("is written to the subresource status only");
  };
  fuzz::Require(is_refused(admitted) || is_refused(without) || Same(without, admitted),
                "the status of a client does not count, or is refused");
  if (stored == nullptr || !object.IsObject() || !stored->IsObject()) return;
  const std::string compared = Compared(definition, object);
  if (compared == "differs from all" || compared != Compared(definition, *stored)) return;
  fuzz::Require(Same(admitted, *evaluator.facts_of(*stored, {})),
                "an update that is not asked about changes nothing");
}

void CheckClass(const Evaluator& evaluator, std::string_view text, const json::Value& object) {
  if (!evaluator.classes) return;
  const auto whole = evaluator.classes->usage_of(object);
  const auto named = json::ParseProjected(text, json::Projection(evaluator.classes->fields));
  const auto projected = evaluator.classes->usage_of(*named);
  fuzz::Require(whole && projected && *whole == *projected, "a class from the named fields");
  for (const auto& [name, amount] : whole->amounts) {
    fuzz::Require(evaluator.classes->concerns(name) && amount.Sign() >= 0, "one unit of a class");
    fuzz::Require(!whole->unknown.contains(name), "known or not");
  }
}

// The object's name follows from its resource. So the text may have any.
base::Result<UsageDefinition> Read(json::Value document) {
  auto definition = quota::usage::ParseUsageDefinition(document);
  if (definition) return definition;
  const std::string& why = definition.error().message;
  fuzz::Require(definition.error().Is(base::ErrorCode::kMalformed) && why.size() < 4096, "why");
  if (!why.starts_with("metadata.name: must be ")) return definition;
  const std::string group(document.StringAt({"spec", "resource", "group"}));
  document.Make({"metadata"}) =
      json::Object{{"name", std::string(document.StringAt({"spec", "resource", "resource"})) +
                                (group.empty() ? "" : "." + group)}};
  return quota::usage::ParseUsageDefinition(document);
}

FUZZ_TARGET(usage_definition) {
  const auto parts = fuzz::Parts(input, 3);
  auto document = json::Parse(parts[0]);
  if (!document) return;
  const auto definition = Read(std::move(*document));
  if (!definition) return;
  for (const FieldPath& path : PathsOf(*definition)) CheckPath(path);
  json::Value again = json::Object{{"spec", quota::usage::SpecOf(*definition)}};
  again.Make({"metadata", "name"}) = definition->name;
  const auto same = quota::usage::ParseUsageDefinition(again);
  fuzz::Require(same && *same == *definition, "its spec is read as it");
  const Evaluator evaluator = quota::usage::EvaluatorOf(*definition);
  const std::string& condition = evaluator.guard.update_condition;
  fuzz::Require(condition.size() <= quota::usage::kMostCondition, "a short condition");
  fuzz::Require(condition.empty() || evaluator.guard.updates, "a condition is for updates");

  const auto object = json::Parse(parts[1]);
  if (!object) return;
  const auto facts = evaluator.facts_of(*object, {});
  fuzz::Require(facts.has_value(), "every object is counted");
  CheckFacts(*definition, evaluator, *facts);
  CheckSums(*definition, *object, facts->now);
  const json::Projection fields(evaluator.fields);
  const auto projected = json::ParseProjected(parts[1], fields);
  fuzz::Require(projected && Same(*evaluator.facts_of(*projected, {}), *facts),
                "facts from the named fields");
  const auto skimmed = json::Skim(parts[1], fields);
  fuzz::Require(skimmed && Same(*evaluator.facts_of(*skimmed, {}), *facts), "and skimmed ones");
  const auto stored = json::Parse(parts[2]);
  CheckAdmission(*definition, evaluator, *object, *projected, stored ? &*stored : nullptr);
  CheckClass(evaluator, parts[1], *object);
}

}  // namespace
