#include "pkg/quota/defined/defined_quota.h"

#include <algorithm>
#include <utility>

#include "pkg/quota/core/core_quota.h"
#include "pkg/quota/quantity_field.h"
#include "pkg/quota/scope_field.h"
#include "pkg/quota/usage/usage_definition.h"

namespace quota {

QuotaApi DefinedQuotaApi() {
  QuotaApi api = CoreQuotaApi();
  api.counts_as = std::exchange(api.name, "defined");
  api.part_of = {.quota_api = api.counts_as, .api_version = "v1", .kind = "ResourceQuota"};
  api.resource = DefinedQuotas();
  api.kind = "DefinedQuota";
  api.form = {.reservations_in_status = true, .part = true};
  api.fields = QuotaFields(api.form);
  return api;
}

const api::GroupVersionResource& DefinedQuotas() {
  static const api::GroupVersionResource resource{"quota-controller-manager.io", "v1alpha1",
                                                  "definedquotas"};
  return resource;
}

ResourceList DefinableLimits(const ResourceList& hard) {
  ResourceList limits;
  for (const auto& [name, limit] : hard) {
    if (usage::IsDefinable(name)) limits.Set(name, limit);
  }
  return limits;
}

bool HasDefinedPart(const Quota& resource_quota) {
  return std::ranges::any_of(resource_quota.hard,
                             [](const auto& limit) { return usage::IsDefinable(limit.first); });
}

json::Value DefinedPartOf(const Quota& resource_quota) {
  json::Object spec{{"hard", ToJson(DefinableLimits(resource_quota.hard))}};
  if (!resource_quota.selector.empty()) spec.Set("scopeSelector", ToJson(resource_quota.selector));
  json::Array owners{json::Object{{"apiVersion", "v1"},
                                  {"kind", "ResourceQuota"},
                                  {"name", resource_quota.key.name},
                                  {"uid", resource_quota.uid},
                                  {"controller", true}}};
  const json::Object labels{{"app.kubernetes.io/managed-by", "quota-controller-manager"}};
  return json::Object{{"apiVersion", DefinedQuotas().GroupVersion()},
                      {"kind", "DefinedQuota"},
                      {"metadata", json::Object{{"name", resource_quota.key.name},
                                                {"namespace", resource_quota.key.ns},
                                                {"labels", labels},
                                                {"ownerReferences", std::move(owners)}}},
                      {"spec", std::move(spec)}};
}

bool IsDefinedPart(const Quota& defined, const Quota& resource_quota) {
  return defined.whole_uid == resource_quota.uid && defined.unreadable.why.empty() &&
         defined.selector == resource_quota.selector &&
         defined.hard == DefinableLimits(resource_quota.hard);
}

}  // namespace quota
