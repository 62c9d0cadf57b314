#include "pkg/quota/core/core_quota.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "pkg/quota/core/object_counter.h"
#include "pkg/quota/count_name.h"

namespace quota {
namespace {

// Never counted, whatever a quota names: no lasting objects, or too short-lived ones (3.6).
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

std::optional<Evaluator> ObjectCounter(const api::GroupResource& resource) {
  if (IsIgnored(resource)) return std::nullopt;
  return core::CountObjects(resource, {});
}

std::optional<api::GroupResource> CountedResource(std::string_view name) {
  auto resource = ParseCountName(name);
  if (!resource || IsIgnored(*resource)) return std::nullopt;
  return resource;
}

}  // namespace

QuotaApi CoreQuotaApi() {
  return {
      .name = "core",
      .resource = {.group = "", .version = "v1", .resource = "resourcequotas"},
      .kind = "ResourceQuota",
      .evaluators = core::AllEvaluators(),
      .object_counter = ObjectCounter,
      .counted_resource = CountedResource,
      .fields = QuotaFields(),
  };
}

}  // namespace quota
