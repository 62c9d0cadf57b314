#include "pkg/quota/uncountable_names.h"

#include <algorithm>

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

}  // namespace quota
