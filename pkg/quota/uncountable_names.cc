#include "pkg/quota/uncountable_names.h"

#include <algorithm>

#include "pkg/base/text.h"
#include "pkg/quota/usage/usage_definition.h"

namespace quota {

std::vector<std::string> UncountableNames(const QuotaApi& api, const ResourceList& hard) {
  std::vector<std::string> names;
  for (const auto& [name, limit] : hard) {
    const bool owned =
        std::ranges::any_of(api.evaluators, [&key = name](const Evaluator& evaluator) {
          return evaluator.owns(key) || (evaluator.classes && evaluator.classes->concerns(key));
        });
    const auto counted = api.counted_resource ? api.counted_resource(name) : std::nullopt;
    const bool countable = counted && api.object_counter && api.object_counter(*counted);
    if (!owned && !countable) names.push_back(name);
  }
  return names;
}

std::vector<std::string> UndefinedNames(const QuotaApi& api, const ResourceList& hard) {
  std::vector<std::string> names = UncountableNames(api, hard);
  std::erase_if(names, [](const std::string& name) { return !usage::IsDefinable(name); });
  return names;
}

std::vector<std::string> UndefinedScopes(const QuotaApi& api, const ScopeSelector& selector) {
  std::vector<std::string> scopes;
  for (const ScopeRequirement& requirement : selector) {
    // Only those of definitions have a domain.
    const bool undefined = requirement.scope.find('/') != std::string::npos &&
                           std::ranges::none_of(api.evaluators, [&](const Evaluator& evaluator) {
                             return base::IsOneOf(requirement.scope, evaluator.scopes);
                           });
    if (undefined) scopes.push_back(requirement.scope);
  }
  return scopes;
}

}  // namespace quota
