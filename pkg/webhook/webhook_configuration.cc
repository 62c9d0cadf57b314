#include "pkg/webhook/webhook_configuration.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>

#include "pkg/base/base64.h"
#include "pkg/quota/hash.h"

namespace webhook {
namespace {

constexpr std::string_view kDomain = ".quota-controller-manager.io";
constexpr std::size_t kLongestName = 253;

// The resources of one API group and version in rules: "pods" and "pods/resize". If a version is
// given, requests in other versions are converted to it (matchPolicy Equivalent).
struct Resources {
  std::set<std::string> create;
  std::set<std::string> update;
};
using GroupAndVersion = std::pair<std::string, std::string>;  // version "": any
using ByGroup = std::map<GroupAndVersion, Resources>;

template <typename Texts>
json::Array ToArray(const Texts& texts) {
  return {texts.begin(), texts.end()};
}

json::Value Rule(const char* operation, const GroupAndVersion& of,
                 const std::set<std::string>& resources) {
  const auto& [group, version] = of;
  return json::Object{{"operations", json::Array{operation}},
                      {"apiGroups", json::Array{group}},
                      {"apiVersions", json::Array{version.empty() ? "*" : version}},
                      {"resources", ToArray(resources)},
                      {"scope", "Namespaced"}};
}

json::Array RulesOf(const ByGroup& groups) {
  json::Array rules;
  for (const auto& [group, resources] : groups) {
    if (!resources.create.empty()) rules.push_back(Rule("CREATE", group, resources.create));
    if (!resources.update.empty()) rules.push_back(Rule("UPDATE", group, resources.update));
  }
  return rules;
}

std::string PathOf(std::string_view quota_api) {
  return std::string(kValidatePath).append(quota_api);
}

json::Object ClientConfig(const ConfigurationOptions& options, const std::string& quota_api,
                          std::string_view ca_pem) {
  json::Object config;
  if (const auto* url = std::get_if<AdmissionUrl>(&options.endpoint)) {
    config.Set("url", url->ToString(PathOf(quota_api)));
  } else {
    const auto& service = std::get<ServiceReference>(options.endpoint);
    config.Set("service", json::Object{{"namespace", service.ns},
                                       {"name", service.name},
                                       {"path", PathOf(quota_api)},
                                       {"port", int{service.port}}});
  }
  if (!ca_pem.empty()) config.Set("caBundle", base::EncodeBase64(ca_pem));
  return config;
}

json::Object NamespaceSelector(const ConfigurationOptions& options, const Namespaces& where) {
  const auto names = where.all_but ? options.Exempt() : where.names;
  if (where.all_but && names.empty()) return {};
  return {
      {"matchExpressions", json::Array{json::Object{{"key", std::string(kNamespaceLabel)},
                                                    {"operator", where.all_but ? "NotIn" : "In"},
                                                    {"values", ToArray(names)}}}}};
}

// The properties that all webhooks of one quota API share.
struct Callee {
  const ConfigurationOptions& options;
  const std::string& quota_api;
  std::string_view ca_pem;
};

json::Object Webhook(const Callee& callee, std::string name, const Namespaces& where,
                     json::Array rules) {
  const ConfigurationOptions& options = callee.options;
  return {{"name", std::move(name)},
          {"admissionReviewVersions", json::Array{"v1"}},
          {"clientConfig", ClientConfig(options, callee.quota_api, callee.ca_pem)},
          {"failurePolicy", options.failure_policy},
          {"matchPolicy", "Equivalent"},
          {"namespaceSelector", NamespaceSelector(options, where)},
          {"objectSelector", json::Object()},
          {"rules", std::move(rules)},
          {"sideEffects", "NoneOnDryRun"},  // a dry run reserves nothing
          {"timeoutSeconds", options.timeout.count()}};
}

// "updates.services.core.quota-controller-manager.io". If group and plural are too long for a name,
// a hash replaces them.
std::string NameOfUpdates(const api::GroupResource& resource, const std::string& quota_api) {
  const std::string suffix = "." + quota_api + std::string(kDomain);
  std::string name = "updates." + resource.ToString() + suffix;
  if (name.size() <= kLongestName) return name;
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx",
                static_cast<unsigned long long>(quota::HashText(resource.ToString())));
  return std::string("updates.x").append(digits.data()).append(suffix);
}

json::Value UpdatesWebhook(const Callee& callee, const GuardedResource& guarded) {
  json::Array rules{
      Rule("UPDATE", {guarded.resource.group, guarded.version}, {guarded.resource.resource})};
  json::Object webhook = Webhook(callee, NameOfUpdates(guarded.resource, guarded.quota_api),
                                 guarded.namespaces, std::move(rules));
  webhook.Set("matchConditions",
              json::Array{json::Object{{"name", "can-need-quota"},
                                       {"expression", guarded.update_condition}}});
  return webhook;
}

// Adds the operations that need no condition.
void AddTo(ByGroup& groups, const GuardedResource& guarded) {
  Resources& resources = groups[{guarded.resource.group, guarded.version}];
  const std::string& plural = guarded.resource.resource;
  resources.create.insert(plural);
  if (guarded.updates && guarded.update_condition.empty()) resources.update.insert(plural);
  for (const std::string& subresource : guarded.subresources) {
    resources.update.insert(std::string(plural).append("/").append(subresource));
  }
}

// Resources of one quota API that are limited in the same namespaces.
struct Alike {
  Namespaces where;
  ByGroup groups;
};

// Groups the resources by their namespaces, in the order of the first resources. REQUIRES:
// `guarded` is sorted.
std::vector<Alike> Unconditional(const std::vector<GuardedResource>& guarded) {
  std::vector<Alike> all;
  for (const GuardedResource& one : guarded) {
    auto alike = std::ranges::find(all, one.namespaces, &Alike::where);
    if (alike == all.end()) {
      alike = all.insert(all.end(), {.where = one.namespaces, .groups = {}});
    }
    AddTo(alike->groups, one);
  }
  return all;
}

// Users see the names in errors. The first one is short. The others have a number and no resource,
// because each is for several: a volume must not be refused by "creates.buckets".
json::Array WebhooksOf(const Callee& callee, const std::vector<GuardedResource>& guarded) {
  json::Array webhooks;
  for (const Alike& alike : Unconditional(guarded)) {
    std::string name = callee.quota_api + std::string(kDomain);
    if (!webhooks.empty()) {
      name.insert(0, "creates-" + std::to_string(webhooks.size() + 1) + ".");
    }
    webhooks.emplace_back(Webhook(callee, std::move(name), alike.where, RulesOf(alike.groups)));
  }
  for (const GuardedResource& one : guarded) {
    if (one.updates && !one.update_condition.empty()) {
      webhooks.push_back(UpdatesWebhook(callee, one));
    }
  }
  return webhooks;
}

std::size_t CountNames(const std::vector<GuardedResource>& guarded) {
  std::size_t names = 0;
  for (const Alike& alike : Unconditional(guarded)) names += alike.where.names.size();
  for (const GuardedResource& one : guarded) {
    if (!one.update_condition.empty()) names += one.namespaces.names.size();
  }
  return names;
}

using ByQuotaApi = std::map<std::string, std::vector<GuardedResource>>;

// The resources that rules can name, sorted. Selects all namespaces where there are too many names.
ByQuotaApi Bounded(const std::vector<GuardedResource>& guarded) {
  const std::set<GuardedResource> sorted(guarded.begin(), guarded.end());
  ByQuotaApi apis;
  for (const GuardedResource& one : sorted) {
    const bool nowhere = !one.namespaces.all_but && one.namespaces.names.empty();
    if (nowhere || !IsPlain(one.resource)) continue;
    GuardedResource& added = apis[one.quota_api].emplace_back(one);
    if (added.namespaces.names.size() > kMostNamespaces) added.namespaces = {};
  }
  std::size_t names = 0;
  for (const auto& [quota_api, resources] : apis) names += CountNames(resources);
  if (names <= kMostNamesInAll) return apis;
  for (auto& [quota_api, resources] : apis) {
    for (GuardedResource& one : resources) one.namespaces = {};
  }
  return apis;
}

bool IsPlainText(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

}  // namespace

std::set<std::string, std::less<>> ConfigurationOptions::Exempt() const {
  std::set<std::string, std::less<>> exempt(exempt_namespaces.begin(), exempt_namespaces.end());
  if (const auto* service = std::get_if<ServiceReference>(&endpoint)) exempt.insert(service->ns);
  return exempt;
}

bool IsPlain(const api::GroupResource& resource) {
  return !resource.resource.empty() && IsPlainText(resource.resource) &&
         IsPlainText(resource.group);
}

GuardedResource Guarded(std::string quota_api, const quota::Evaluator& evaluator) {
  GuardedResource guarded{.quota_api = std::move(quota_api),
                          .resource = evaluator.resource,
                          .version = evaluator.version,
                          .updates = evaluator.guard.updates,
                          .update_condition = evaluator.guard.update_condition,
                          .subresources = evaluator.guard.subresources};
  std::ranges::sort(guarded.subresources);
  return guarded;
}

json::Value DesiredConfiguration(const ConfigurationOptions& options,
                                 const std::vector<GuardedResource>& guarded,
                                 std::string_view ca_pem) {
  json::Array webhooks;
  for (const auto& [quota_api, resources] : Bounded(guarded)) {
    const Callee callee{.options = options, .quota_api = quota_api, .ca_pem = ca_pem};
    std::ranges::move(WebhooksOf(callee, resources), std::back_inserter(webhooks));
  }
  json::Object metadata{{"name", options.name},
                        {"labels", json::Object{{std::string(kManagedByLabel), kManagedByUs}}}};
  if (!options.installation.empty()) {
    metadata.Set("annotations",
                 json::Object{{std::string(kInstallationAnnotation), options.installation}});
  }
  if (options.owner.IsObject()) metadata.Set("ownerReferences", json::Array{options.owner});
  return json::Object{{"apiVersion", kWebhookConfigurations.GroupVersion()},
                      {"kind", "ValidatingWebhookConfiguration"},
                      {"metadata", std::move(metadata)},
                      {"webhooks", std::move(webhooks)}};
}

}  // namespace webhook
