#include "cmd/kubectl-quota/usage_names.h"

#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/quota/core/core_quota.h"
#include "pkg/quota/usage/definition_set.h"
#include "pkg/quota/usage/extended_evaluator.h"

namespace kubectl_quota {

void Define(const std::vector<json::Value>& definitions, quota::QuotaApi& api) {
  if (!api.TakesDefinitions() || definitions.empty()) return;
  quota::usage::DefinitionSet set;
  for (const json::Value& definition : definitions) set.Put(definition);
  // The daemon has compared the paths with the schemas.
  const auto of_paths = [&](const std::string& name) -> quota::usage::Verdict {
    auto recorded = quota::usage::RecordedVerdict(set.stored().at(name));
    if (recorded.reason != quota::usage::kPathNotInSchema) return {};
    return recorded;
  };
  const auto verdicts = set.Judge(quota::BuiltInEvaluator, of_paths);
  std::uint64_t revision = 0;
  for (const auto& [name, stored] : set.stored()) {
    if (!verdicts.at(name).reason.empty()) continue;
    quota::Evaluator evaluator = quota::usage::EvaluatorOf(
        *stored.definition, quota::BuiltInEvaluator(stored.definition->resource));
    evaluator.revision = ++revision;
    api.evaluators.Put(std::move(evaluator));
  }
}

base::Task<quota::QuotaApi> Defined(Cluster& cluster, quota::QuotaApi api) {
  const auto* definitions = co_await cluster.UsageDefinitions();
  if (definitions != nullptr) Define(*definitions, api);
  co_return api;
}

base::Result<void> CheckDefinitions(const std::vector<json::Value>& definitions) {
  for (const json::Value& object : definitions) {
    const auto read = quota::usage::ParseUsageDefinition(object);
    if (!read) return read.error().Wrap("usagedefinition/" + std::string(api::Name(object)));
  }
  return {};
}

}  // namespace kubectl_quota
