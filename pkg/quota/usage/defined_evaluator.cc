#include "pkg/quota/usage/defined_evaluator.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace quota::usage {
namespace {

using Usage = std::shared_ptr<const ObjectUsage>;

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

// A status is not changed by an update of the object, or the object has no subresource for it and
// the next event shows the change, unless the definition says that it must not happen.
bool CanChange(const UsageDefinition& definition, const FieldPath& path) {
  return !path.IsInStatus() ||
         (definition.counts_while && definition.counts_while->status_subresource_only &&
          definition.counts_while->path == path);
}

// True if `scale` of the kind may change the field: which one of the spec, only the CRD says.
bool MayBeScaled(const FieldPath* path) {
  return path->steps().front().name == "spec" && !path->HasEach();
}

std::string Differs(FieldPath::Steps steps) {
  return FieldPath::ToCel("object", steps) + " != " + FieldPath::ToCel("oldObject", steps);
}

std::string AnyOf(const std::set<std::string>& conditions) {
  std::string text;
  for (const std::string& one : conditions) text.append(text.empty() ? "" : " || ").append(one);
  return text;
}

// The conditions under which an update may change fields that begin alike, as those of the spec.
struct Changes {
  std::string any;                    // anything is changed there
  bool all = false;                   // anything matters
  std::set<std::string> fields;       // a field is changed
  std::set<std::string> not_objects;  // of `o`: what should have fields is no object
};

// CEL for a change of some of the paths; "" for none. Where members of an object should be, a user
// may write a list, and selecting a member of a list is an error in CEL: the API server would
// refuse every update of such an object, also those that its deletion needs. But `||` is true if
// one side is true and the other one an error, and `&&` is false if one side is false. So an update
// of an object of a wrong form is asked about whenever it changes anything there. Null counts as
// wrong.
std::string ConditionOf(const std::vector<const FieldPath*>& paths) {
  std::map<std::string, Changes> by_first;
  for (const FieldPath* path : paths) {
    const FieldPath::Steps steps = path->Named();
    Changes& changes = by_first[steps.front().name];
    changes.any = Differs(steps.first(1));
    changes.all = changes.all || steps.size() == 1;
    changes.fields.insert(Differs(steps));
    for (std::size_t i = 1; i < steps.size(); ++i) {
      changes.not_objects.insert("type(" + FieldPath::ToCel("o", steps.first(i)) +
                                 ".orValue({})) != map");
    }
  }
  std::set<std::string> conditions;
  for (const auto& [first, changes] : by_first) {
    std::string condition = changes.any;
    if (!changes.all) {
      condition += " && (" + AnyOf(changes.fields) + " || [object, oldObject].exists(o, " +
                   AnyOf(changes.not_objects) + "))";
    }
    conditions.insert(std::move(condition));
  }
  return AnyOf(conditions);
}

Guard GuardOf(const Usage& usage) {
  std::vector<const FieldPath*> changeable = PathsOf(usage->definition());
  std::erase_if(changeable,
                [&](const FieldPath* path) { return !CanChange(usage->definition(), *path); });
  std::string condition = ConditionOf(changeable);
  if (condition.size() > kMostCondition) condition.clear();
  Guard guard{.updates = !changeable.empty(),
              .update_condition = std::move(condition),
              .subresources = {},
              .fields = {},
              .constraints = nullptr};
  if (std::ranges::any_of(PathsOf(usage->definition()), MayBeScaled)) {
    guard.subresources = {std::string(kScale)};
    guard.fields = {"spec.replicas"};  // of the Scale
  }
  if (std::ranges::any_of(PathsOf(usage->definition()), &FieldPath::IsInStatus)) {
    guard.facts_of = [usage](const json::Value& object, const json::Value* stored,
                             const ReadOptions& /*options*/) {
      return base::Result<ObjectFacts>(usage->FactsToAdmit(object, stored));
    };
  }
  return guard;
}

std::optional<ClassSource> ClassesOf(const Usage& usage) {
  const std::vector<Amount>& amounts = usage->definition().amounts;
  const auto first = std::ranges::find_if(
      amounts, [](const Amount& amount) { return amount.of_class.has_value(); });
  if (first == amounts.end()) return std::nullopt;
  ClassSource source{
      .resource = first->of_class->resource,
      .usage_of = [usage](const json::Value& object) -> base::Result<ClassUsage> {
        return usage->UsageOfClass(object);
      },
      .missing = MissingClass::kUnknown,
      .concerns =
          [usage](std::string_view name) {
            return std::ranges::any_of(usage->definition().amounts, [&](const Amount& amount) {
              return amount.of_class && amount.name == name;
            });
          },
      .called = first->of_class->display_name.empty() ? first->of_class->resource.ToString()
                                                      : first->of_class->display_name,
  };
  std::set<std::string> fields;
  for (const Amount& amount : amounts) {
    if (amount.of_class) fields.insert(amount.of_class->field.Projected());
  }
  source.fields.assign(fields.begin(), fields.end());
  return source;
}

}  // namespace

Evaluator EvaluatorOf(const UsageDefinition& definition) {
  const auto usage = std::make_shared<const ObjectUsage>(definition);
  Evaluator evaluator{
      .resource = definition.resource,
      .owns =
          [usage](std::string_view name) {
            const std::vector<Amount>& amounts = usage->definition().amounts;
            return name == usage->count_name() ||
                   std::ranges::find(amounts, name, &Amount::name) != amounts.end();
          },
      .facts_of = [usage](const json::Value& object, const ReadOptions& /*options*/)
          -> base::Result<ObjectFacts> { return usage->FactsOf(object); },
      .guard = GuardOf(usage),
      .classes = ClassesOf(usage),
  };
  std::set<std::string> fields;
  for (const FieldPath* path : PathsOf(definition)) fields.insert(path->Projected());
  evaluator.fields.assign(fields.begin(), fields.end());
  for (const ScopeOfField& scope : definition.scopes) evaluator.scopes.push_back(scope.name);
  return evaluator;
}

Explanation Explain(const UsageDefinition& definition, const json::Value& object) {
  return ObjectUsage(definition).Explain(object);
}

}  // namespace quota::usage
