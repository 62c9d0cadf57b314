#include "pkg/quota/object_counter.h"

#include <algorithm>
#include <array>
#include <utility>

#include "pkg/quota/count_name.h"

namespace quota {
namespace {

// Never counted, even if a quota names it.
bool IsIgnored(const api::GroupResource& resource) {
  constexpr std::array<std::string_view, 10> kIgnored = {
      "bindings",
      "componentstatuses",
      "events",
      "events.events.k8s.io",
      "localsubjectaccessreviews.authorization.k8s.io",
      "selfsubjectaccessreviews.authorization.k8s.io",
      "selfsubjectreviews.authentication.k8s.io",
      "selfsubjectrulesreviews.authorization.k8s.io",
      "subjectaccessreviews.authorization.k8s.io",
      "tokenreviews.authentication.k8s.io",
  };
  return std::ranges::find(kIgnored, resource.ToString()) != kIgnored.end();
}

}  // namespace

Evaluator CountObjects(api::GroupResource resource, const std::vector<std::string>& aliases) {
  Facts one;
  one.usage.Set(CountName(resource), Quantity::FromInt(1));
  for (const std::string& alias : aliases) one.usage.Set(alias, Quantity::FromInt(1));
  return {
      .resource = std::move(resource),
      .owns = [usage = one.usage](std::string_view name) { return usage.Find(name) != nullptr; },
      .fields = {},
      .scopes = {},
      .facts_of = [one](const json::Value&, const ReadOptions&) -> base::Result<ObjectFacts> {
        return ObjectFacts{.now = one, .later = std::nullopt};
      },
  };
}

std::optional<Evaluator> CountAnyKind(const api::GroupResource& resource) {
  if (IsIgnored(resource)) return std::nullopt;
  return CountObjects(resource, {});
}

std::optional<api::GroupResource> AnyCountedKind(std::string_view name) {
  auto resource = ParseCountName(name);
  if (!resource || IsIgnored(*resource)) return std::nullopt;
  return resource;
}

}  // namespace quota
