#include "pkg/quota/core/object_counter.h"

#include <utility>

#include "pkg/quota/count_name.h"

namespace quota::core {

Evaluator CountObjects(api::GroupResource resource, std::vector<std::string> aliases) {
  Facts one;
  one.usage.Set(CountName(resource), Quantity::FromInt(1));
  for (const std::string& alias : aliases) one.usage.Set(alias, Quantity::FromInt(1));
  return {
      .resource = std::move(resource),
      .owns = [usage = one.usage](std::string_view name) { return usage.Find(name) != nullptr; },
      .fields = {},
      .scopes = {},
      .facts_of = [one](const json::Value&, base::WallTime) -> base::Result<ObjectFacts> {
        return ObjectFacts{.now = one, .later = std::nullopt};
      },
  };
}

}  // namespace quota::core
