#include "cmd/kubectl-quota/usage_names.h"

#include <algorithm>
#include <utility>

#include "cmd/kubectl-quota/counting.h"
#include "pkg/api/object_meta.h"
#include "pkg/quota/core/core_quota.h"
#include "pkg/quota/uncountable_names.h"
#include "pkg/quota/usage/definition_set.h"
#include "pkg/quota/usage/extended_evaluator.h"

namespace kubectl_quota {
namespace {

// True if a definition that is not known may add to what such an object uses.
bool MayBeUndefined(const quota::Evaluator& evaluator) {
  return evaluator.revision == 0 && quota::usage::CanBeDefined(evaluator.resource);
}

bool CountsUnderAny(const quota::Evaluator& evaluator, const quota::ResourceList& hard) {
  return std::ranges::any_of(hard, [&](const auto& limit) {
    const std::string& name = limit.first;
    return evaluator.owns(name) || (evaluator.classes && evaluator.classes->concerns(name));
  });
}

// The versions that the daemon reads, as far as they are served.
quota::usage::DefinitionVersions VersionsFor(const quota::usage::StoredDefinition& stored,
                                             const client::Discovered* kinds) {
  if (kinds == nullptr || !quota::usage::IsObserved(stored)) return {};
  quota::usage::DefinitionVersions versions = quota::usage::VersionsIn(stored.status);
  const auto keep_served = [kinds](std::string& version, const api::GroupResource& resource) {
    if (FindResource(*kinds, resource, version) == nullptr) version.clear();
  };
  keep_served(versions.objects, stored.in_force->resource);
  const auto* of_class = quota::usage::ClassOf(*stored.in_force);
  if (of_class != nullptr) keep_served(versions.of_class, of_class->resource);
  return versions;
}

}  // namespace

void Define(const std::vector<json::Value>& definitions, quota::QuotaApi& api,
            const client::Discovered* kinds) {
  if (!api.TakesDefinitions() || definitions.empty()) return;
  quota::usage::DefinitionSet set;
  for (const json::Value& definition : definitions) set.Put(definition);
  // The daemon has compared the paths with the schemas.
  const auto of_paths = [&](const std::string& name) -> quota::usage::Verdict {
    auto recorded = quota::usage::RecordedVerdict(set.stored().at(name));
    if (recorded.reason != quota::usage::kPathNotInSchema) return {};
    return recorded;
  };
  set.Judge(quota::BuiltInEvaluator, of_paths);
  std::uint64_t revision = 0;
  for (const auto& [name, stored] : set.stored()) {
    if (stored.in_force == nullptr) continue;
    const quota::usage::DefinitionVersions versions = VersionsFor(stored, kinds);
    quota::Evaluator evaluator = quota::usage::EvaluatorOf(
        *stored.in_force, quota::BuiltInEvaluator(stored.in_force->resource), versions.objects);
    if (evaluator.classes) evaluator.classes->version = versions.of_class;
    evaluator.revision = ++revision;
    api.evaluators.Put(std::move(evaluator));
  }
}

base::Task<quota::QuotaApi> Defined(Cluster& cluster, quota::QuotaApi api) {
  const auto* definitions = co_await cluster.UsageDefinitions();
  const client::Discovered* kinds = co_await cluster.Kinds();
  if (definitions != nullptr) Define(*definitions, api, kinds);
  co_return api;
}

std::vector<std::string> UndefinedOf(const quota::QuotaApi& api, const quota::Quota& quota,
                                     const std::string& title, const quota::Evaluator* evaluator) {
  std::vector<std::string> texts;
  if (!api.TakesDefinitions()) return texts;
  if (evaluator != nullptr && !MayBeUndefined(*evaluator)) return texts;
  const auto tell = [&](const char* has, const std::string& name, const char* what) {
    std::string& text = texts.emplace_back("quota ");
    text.append(title).append(has).append(name);
    text.append(", and no UsageDefinition is known that says what ").append(what);
  };
  for (const std::string& name : quota::UndefinedNames(api, quota.hard)) {
    tell(" limits ", name, "uses it");
  }
  if (evaluator != nullptr && !CountsUnderAny(*evaluator, quota.hard)) return texts;
  for (const std::string& scope : quota::UndefinedScopes(api, quota.selector)) {
    tell(" has the scope ", scope, "is in it");
  }
  return texts;
}

base::Result<void> CheckDefinitions(const std::vector<json::Value>& definitions) {
  for (const json::Value& object : definitions) {
    const auto read = quota::usage::ParseUsageDefinition(object);
    if (!read) return read.error().Wrap("usagedefinition/" + std::string(api::Name(object)));
  }
  return {};
}

}  // namespace kubectl_quota
