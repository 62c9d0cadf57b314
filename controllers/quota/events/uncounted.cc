#include "controllers/quota/events/uncounted.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace controllers {
namespace {

// The groups in manifests/base/count-any.yaml, besides the core group.
constexpr std::array<std::string_view, 12> kCountAny{
    "apps",
    "autoscaling",
    "batch",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
};

// True if the last answer about the source's resource was that the daemon may not list it.
bool IsForbidden(const UsageSource& source) {
  return source.forbidden || (source.trouble && source.trouble->Is(base::ErrorCode::kForbidden));
}

// "" if the source is counted, or is still being listed.
std::string WhyNot(const UsageSource& source) {
  const std::string resource = source.resource.ToString();
  if (IsForbidden(source)) {
    return "quota-controller-manager may not list " + resource + ": " + HowToAllow(source.resource);
  }
  if (source.trouble && source.trouble->http_status != 0) {
    return "the API server answers " + std::to_string(source.trouble->http_status) +
           " to a list of " + resource;
  }
  if (source.trouble) return resource + " cannot be listed";
  const bool absent = source.tracked == nullptr && source.known_absent;
  return absent ? "the API server does not serve " + resource : "";
}

}  // namespace

std::vector<std::string> HeldOut(const UsageSource& source, const quota::ResourceList& used) {
  std::vector<std::string> names;
  if (!source.forbidden) return names;
  std::ranges::copy_if(source.names, std::back_inserter(names),
                       [&](const std::string& name) { return used.Find(name) == nullptr; });
  return names;
}

std::string HowToAllow(const api::GroupResource& resource) {
  if (resource.group.empty() && resource.resource == "secrets") {
    return "set rbac.countSecrets=true in its Helm values, or apply "
           "manifests/components/count-secrets";
  }
  const bool any =
      resource.group.empty() || std::ranges::find(kCountAny, resource.group) != kCountAny.end();
  if (any)
    return "set rbac.countAny=true in its Helm values, or apply manifests/base/count-any.yaml";
  return "set rbac.countGroups={" + resource.group +
         "} in its Helm values, or bind a ClusterRole with list and watch on " +
         resource.ToString() + " to its ServiceAccount";
}

quota::Uncounted WhyUncounted(const std::vector<UsageSource>& sources,
                              const std::vector<std::string>& names) {
  quota::Uncounted uncounted;
  for (const UsageSource& source : sources) {
    const bool concerned = std::ranges::any_of(
        names, [&](const auto& name) { return std::ranges::binary_search(source.names, name); });
    std::string why = concerned ? WhyNot(source) : "";
    if (why.empty()) continue;
    uncounted.why += (uncounted.why.empty() ? "" : "; ") + std::move(why);
    uncounted.lasting = uncounted.lasting || IsForbidden(source);
  }
  return uncounted;
}

}  // namespace controllers
