#include "pkg/quota/usage/defined_evaluator.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "pkg/api/names.h"
#include "pkg/base/text.h"
#include "pkg/quota/count_name.h"
#include "pkg/quota/quantity_field.h"

namespace quota::usage {
namespace {

using Steps = FieldPath::Steps;
using Definition = std::shared_ptr<const UsageDefinition>;

base::Error NoAmount(std::string what) {
  return {.code = base::ErrorCode::kMalformed, .message = std::move(what)};
}

// A text for scopes and for countsWhile: that of a string, a number or a boolean; nullopt for
// others.
std::optional<std::string> TextOf(const json::Value* value) {
  if (value == nullptr) return std::nullopt;
  if (const std::string* text = value->AsString()) return *text;
  if (const json::Number* number = value->AsNumber()) return number->text;
  if (const auto flag = value->AsBool()) return *flag ? "true" : "false";
  return std::nullopt;
}

// Visits the fields of one object that one name needs. Errors: kMalformed, "spec.disks[3].size:
// <what is wrong>".
class Walk {
 public:
  // Calls leaf(const json::Value*) for each value at `steps` below `node`; with null for one that
  // is absent or null. An absent list has no elements. Stops at the first error of `leaf`, whose
  // message begins with ": ".
  template <typename Leaf>
  base::Result<void> Visit(const json::Value* node, Steps steps, const Leaf& leaf) {
    if (node != nullptr && node->IsNull()) node = nullptr;
    if (steps.empty()) return leaf(node);
    const FieldPath::Step& step = steps.front();
    if (step.each) return VisitElements(node, steps.subspan(1), leaf);
    const json::Value* member = nullptr;
    if (node != nullptr) {
      const json::Object* object = node->AsObject();
      if (object == nullptr) {
        return NoAmount(node->IsArray() ? ": is a list, and the path lacks [*] for its elements"
                                        : ": must be an object");
      }
      member = object->Find(step.name);
    }
    auto visited = Visit(member, steps.subspan(1), leaf);
    return visited ? visited : Below(FieldPath::TextOf(steps.first(1)), visited.error());
  }

  // The error of a field below `step`.
  static base::Error Below(std::string_view step, const base::Error& error) {
    const bool joined = error.message.starts_with(':') || error.message.starts_with('[');
    return NoAmount(std::string(step).append(joined ? "" : ".").append(error.message));
  }

 private:
  template <typename Leaf>
  base::Result<void> VisitElements(const json::Value* node, Steps rest, const Leaf& leaf) {
    if (node == nullptr) return {};
    const json::Array* list = node->AsArray();
    if (list == nullptr) return NoAmount(": must be a list");
    if (list->size() > left_) {
      return NoAmount(": has too many elements: at most " + std::to_string(kMostElements) +
                      " are summed for one name");
    }
    left_ -= list->size();
    for (std::size_t i = 0; i < list->size(); ++i) {
      auto visited = Visit(&(*list)[i], rest, leaf);
      if (!visited) return Below("[" + std::to_string(i) + "]", visited.error());
    }
    return {};
  }

  std::size_t left_ = kMostElements;
};

base::Result<Quantity> AmountIn(const json::Value* value,
                                const std::optional<Quantity>& otherwise) {
  if (value == nullptr) {
    if (otherwise) return *otherwise;
    return NoAmount(": is missing");
  }
  auto amount = QuantityFrom(*value, "");
  if (amount && amount->Sign() < 0) return NoAmount(": must not be negative");
  return amount;
}

// The sum of the values.
base::Result<Quantity> SumOf(Walk& walk, const json::Value* node, Steps steps,
                             const std::optional<Quantity>& otherwise) {
  Quantity sum;
  auto summed = walk.Visit(node, steps, [&](const json::Value* value) -> base::Result<void> {
    const auto amount = AmountIn(value, otherwise);
    if (!amount) return amount.error();
    sum = sum.Add(*amount);
    return {};
  });
  if (!summed) return summed.error();
  return sum;
}

// How often an amount counts. Without `times`: once.
base::Result<Quantity> TimesOf(Walk& walk, const json::Value* node, const Amount& amount,
                               std::size_t common) {
  if (!amount.times) return Quantity::FromInt(1);
  return SumOf(walk, node, amount.times->steps().subspan(common), amount.times_otherwise);
}

// The number of first steps in which the path and `times` are alike. They lead through the same
// elements of lists.
std::size_t CommonSteps(const FieldPath& path, const Amount& amount) {
  if (!amount.times) return 0;
  const Steps a = path.steps();
  const Steps b = amount.times->steps();
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

base::Result<Quantity> ProductIn(const json::Value& object, const Amount& amount) {
  Walk walk;
  const Steps path = amount.path->steps();
  const std::size_t common = CommonSteps(*amount.path, amount);
  Quantity sum;
  auto summed =
      walk.Visit(&object, path.first(common), [&](const json::Value* node) -> base::Result<void> {
        const auto one = SumOf(walk, node, path.subspan(common), amount.otherwise);
        if (!one) return one.error();
        const auto times = TimesOf(walk, node, amount, common);
        if (!times) return times.error();
        sum = sum.Add(one->Mul(*times));
        return {};
      });
  if (!summed) return summed.error();
  return sum;
}

// How many units of a class an object uses, kMost if that does not fit.
base::Result<quantity::Int128> UnitsOf(Walk& walk, const json::Value* node, const Amount& amount,
                                       std::size_t common) {
  const auto times = TimesOf(walk, node, amount, common);
  if (!times) return times.error();
  if (times->IsSaturated()) return quantity::kMost;
  if (times->IsInteger()) return times->nanos() / quantity::kNanosPerOne;
  // Without `times` it is one.
  return Walk::Below(FieldPath::TextOf(amount.times->steps().subspan(common)),
                     NoAmount(": the number of a class must be whole"));
}

quantity::Int128 SumOf(quantity::Int128 a, quantity::Int128 b) {
  quantity::Int128 sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? quantity::kMost : sum;
}

// The units by class, each class once. Who uses none of a class does not depend on it.
std::vector<ClassUnits> Summed(std::vector<ClassUnits> classes) {
  std::erase_if(classes, [](const ClassUnits& one) { return one.units == 0; });
  std::ranges::sort(classes, {}, &ClassUnits::name);
  std::vector<ClassUnits> summed;
  for (ClassUnits& one : classes) {
    if (!summed.empty() && summed.back().name == one.name) {
      summed.back().units = SumOf(summed.back().units, one.units);
    } else {
      summed.push_back(std::move(one));
    }
  }
  return summed;
}

// Adds the units of the classes that the object names.
base::Result<void> AddUnits(const json::Value& object, const Amount& amount, Facts& facts) {
  Walk walk;
  const Steps path = amount.of_class->path.steps();
  const std::size_t common = CommonSteps(amount.of_class->path, amount);
  std::vector<ClassUnits> classes;
  auto added =
      walk.Visit(&object, path.first(common), [&](const json::Value* node) -> base::Result<void> {
        const auto units = UnitsOf(walk, node, amount, common);
        if (!units) return units.error();
        return walk.Visit(node, path.subspan(common),
                          [&](const json::Value* value) -> base::Result<void> {
                            if (value == nullptr) return NoAmount(": is missing");
                            const std::string* name = value->AsString();
                            if (name == nullptr || !api::IsDns1123Subdomain(*name)) {
                              return NoAmount(": must be the name of an object");
                            }
                            classes.push_back({*name, *units});
                            return {};
                          });
      });
  if (!added) return added;
  classes = Summed(std::move(classes));
  if (classes.size() > kMostClasses) {
    return NoAmount(amount.of_class->path.ToString() + ": has too many names: at most " +
                    std::to_string(kMostClasses) + " classes are looked up for one object");
  }
  facts.classes = std::move(classes);
  return {};
}

// The text of a field that is one value; nullopt if it is absent, or is a list or an object.
std::optional<std::string> TextAt(const json::Value& object, const FieldPath& path) {
  std::optional<std::string> text;
  Walk walk;
  const auto visited =
      walk.Visit(&object, path.steps(), [&](const json::Value* value) -> base::Result<void> {
        text = TextOf(value);
        return {};
      });
  return visited ? text : std::nullopt;
}

// A long text is cut between two characters.
std::string Cut(std::string text) {
  if (text.size() <= kMostScopeValue) return text;
  return std::string(base::Beginning(text, kMostScopeValue)) + "…";
}

bool Counts(const UsageDefinition& definition, const json::Value& object) {
  if (!definition.counts_while) return true;
  const CountsWhile& counts = *definition.counts_while;
  const auto text = TextAt(object, counts.path);
  const bool found = text && std::ranges::find(counts.values, *text) != counts.values.end();
  return found == counts.in;
}

bool ReadsStatus(const Amount& amount) {
  return (amount.path && amount.path->IsInStatus()) ||
         (amount.of_class && amount.of_class->path.IsInStatus()) ||
         (amount.times && amount.times->IsInStatus());
}

// `without_status`: amounts in the status use nothing. `reasons`, if not null, gets why each unread
// name is unknown.
ObjectFacts FactsOf(const UsageDefinition& definition, const json::Value& object,
                    bool without_status, Explanation* reasons = nullptr) {
  ObjectFacts facts;
  const auto add_unknown = [&](const std::string& name, const base::Error& why) {
    facts.now.unread.push_back(name);
    if (facts.flaw.empty()) facts.flaw = why.message;
    if (reasons != nullptr) reasons->unknown[name] = why.message;
  };
  facts.now.usage.Set(CountName(definition.resource), Quantity::FromInt(1));
  for (const ScopeOfField& scope : definition.scopes) {
    if (auto text = TextAt(object, scope.path)) {
      facts.now.attributes.emplace_back(scope.name, Cut(std::move(*text)));
    }
  }
  std::ranges::sort(facts.now.attributes);
  if (!Counts(definition, object)) return facts;
  std::optional<base::Error> no_classes;
  bool has_classes = false;
  for (const Amount& amount : definition.amounts) {
    if (without_status && ReadsStatus(amount)) continue;
    if (amount.of_class) {
      if (std::exchange(has_classes, true)) continue;  // all names have the same units
      if (auto added = AddUnits(object, amount, facts.now); !added) {
        no_classes = added.error();
      }
      continue;
    }
    const auto product = ProductIn(object, amount);
    if (product) {
      facts.now.usage.Set(amount.name, *product);
    } else {
      add_unknown(amount.name, product.error());
    }
  }
  if (no_classes) {
    for (const Amount& amount : definition.amounts) {
      if (amount.of_class) add_unknown(amount.name, *no_classes);
    }
  }
  std::ranges::sort(facts.now.unread);
  return facts;
}

// The fields of the objects, each once.
std::vector<const FieldPath*> PathsOf(const UsageDefinition& definition) {
  std::vector<const FieldPath*> paths;
  for (const Amount& amount : definition.amounts) {
    if (amount.path) paths.push_back(&*amount.path);
    if (amount.of_class) paths.push_back(&amount.of_class->path);
    if (amount.times) paths.push_back(&*amount.times);
  }
  if (definition.counts_while) paths.push_back(&definition.counts_while->path);
  for (const ScopeOfField& scope : definition.scopes) paths.push_back(&scope.path);
  return paths;
}

base::Result<ObjectFacts> FactsToAdmit(const UsageDefinition& definition, const json::Value& object,
                                       const json::Value* stored) {
  json::Value trusted = object;
  const json::Value* status = stored == nullptr ? nullptr : stored->At({"status"});
  if (json::Object* members = trusted.AsObject()) {
    members->Erase("status");
    if (status != nullptr) members->Set("status", *status);
  }
  return FactsOf(definition, trusted, stored == nullptr);
}

// A status is not changed by an update of the object, or the object has no subresource for it and
// the next event shows the change.
Guard GuardOf(const Definition& definition) {
  std::set<std::string> changed;
  for (const FieldPath* path : PathsOf(*definition)) {
    if (path->IsInStatus()) continue;
    changed.insert(path->ToCel("object") + " != " + path->ToCel("oldObject"));
  }
  std::string condition;
  for (const std::string& one : changed) {
    condition.append(condition.empty() ? "" : " || ").append(one);
  }
  if (condition.size() > kMostCondition) condition.clear();
  Guard guard{.updates = !changed.empty(),
              .update_condition = std::move(condition),
              .subresources = {},
              .fields = {},
              .constraints = nullptr};
  if (std::ranges::any_of(PathsOf(*definition), &FieldPath::IsInStatus)) {
    guard.facts_of = [definition](const json::Value& object, const json::Value* stored,
                                  const ReadOptions& /*options*/) {
      return FactsToAdmit(*definition, object, stored);
    };
  }
  return guard;
}

ClassUsage UsageOfClass(const UsageDefinition& definition, const json::Value& object) {
  ClassUsage one;
  for (const Amount& amount : definition.amounts) {
    if (!amount.of_class) continue;
    Walk walk;
    const auto sum = SumOf(walk, &object, amount.of_class->field.steps(), amount.otherwise);
    if (sum) {
      one.amounts.Set(amount.name, *sum);
    } else {
      one.unknown[amount.name] = sum.error().message;
    }
  }
  return one;
}

std::optional<ClassSource> ClassesOf(const Definition& definition) {
  const auto first = std::ranges::find_if(
      definition->amounts, [](const Amount& amount) { return amount.of_class.has_value(); });
  if (first == definition->amounts.end()) return std::nullopt;
  ClassSource source{
      .resource = first->of_class->resource,
      .usage_of = [definition](const json::Value& object) -> base::Result<ClassUsage> {
        return UsageOfClass(*definition, object);
      },
      .missing = MissingClass::kUnknown,
      .concerns =
          [definition](std::string_view name) {
            return std::ranges::any_of(definition->amounts, [&](const Amount& amount) {
              return amount.of_class && amount.name == name;
            });
          },
      .called = first->of_class->resource.ToString(),
  };
  std::set<std::string> fields;
  for (const Amount& amount : definition->amounts) {
    if (amount.of_class) fields.insert(amount.of_class->field.Projected());
  }
  source.fields.assign(fields.begin(), fields.end());
  return source;
}

}  // namespace

Evaluator EvaluatorOf(const UsageDefinition& definition) {
  const auto shared = std::make_shared<const UsageDefinition>(definition);
  Evaluator evaluator{
      .resource = definition.resource,
      .owns =
          [shared, count = CountName(definition.resource)](std::string_view name) {
            return name == count ||
                   std::ranges::find(shared->amounts, name, &Amount::name) != shared->amounts.end();
          },
      .facts_of = [shared](const json::Value& object, const ReadOptions& /*options*/)
          -> base::Result<ObjectFacts> { return FactsOf(*shared, object, false); },
      .guard = GuardOf(shared),
      .classes = ClassesOf(shared),
  };
  std::set<std::string> fields;
  for (const FieldPath* path : PathsOf(definition)) fields.insert(path->Projected());
  evaluator.fields.assign(fields.begin(), fields.end());
  for (const ScopeOfField& scope : definition.scopes) evaluator.scopes.push_back(scope.name);
  return evaluator;
}

Explanation Explain(const UsageDefinition& definition, const json::Value& object) {
  Explanation explanation;
  FactsOf(definition, object, false, &explanation);
  if (Counts(definition, object)) return explanation;
  const FieldPath& path = definition.counts_while->path;
  const auto text = TextAt(object, path);
  explanation.idle = path.ToString() + (text ? " is " + *text : " is not set");
  return explanation;
}

}  // namespace quota::usage
