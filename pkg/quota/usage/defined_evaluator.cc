#include "pkg/quota/usage/defined_evaluator.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

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

Guard GuardOf(const Usage& usage) {
  std::set<std::string> changed;
  for (const FieldPath* path : PathsOf(usage->definition())) {
    if (!CanChange(usage->definition(), *path)) continue;
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
