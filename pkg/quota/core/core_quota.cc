#include "pkg/quota/core/core_quota.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "pkg/quota/core/object_counter.h"

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
  if (!name.starts_with(core::kCountPrefix)) return std::nullopt;
  name.remove_prefix(core::kCountPrefix.size());
  const std::size_t dot = std::min(name.find('.'), name.size());
  const std::string_view group = dot == name.size() ? "" : name.substr(dot + 1);
  api::GroupResource resource{std::string(group), std::string(name.substr(0, dot))};
  // "count/pods." is no name of the core group's pods, which is "count/pods".
  const bool well_formed = !resource.resource.empty() && (dot == name.size() || !group.empty()) &&
                           name.find('/') == std::string_view::npos;
  if (!well_formed || IsIgnored(resource)) return std::nullopt;
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
      .fields = {"metadata.name", "metadata.namespace", "metadata.uid", "metadata.resourceVersion",
                 "metadata.deletionTimestamp", "spec.hard", "spec.scopes", "spec.scopeSelector",
                 "status.hard", "status.used"},
  };
}

}  // namespace quota
