#include "pkg/admission/webhook_configuration.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>

#include "pkg/base/base64.h"
#include "pkg/quota/hash.h"

namespace admission {
namespace {

constexpr std::string_view kDomain = ".quota-controller-manager.io";
constexpr std::size_t kLongestName = 253;

// What the requests of one API group's resources must match, "pods" and "pods/resize". Where a
// version is named, requests in others are converted to it (matchPolicy Equivalent).
struct Resources {
  std::set<std::string> create;
  std::set<std::string> update;
};
using GroupAndVersion = std::pair<std::string, std::string>;  // version "": any
using ByGroup = std::map<GroupAndVersion, Resources>;

json::Array ToArray(const std::set<std::string>& texts) { return {texts.begin(), texts.end()}; }

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

json::Object NamespaceSelector(const ConfigurationOptions& options) {
  std::set<std::string> excluded(options.excluded_namespaces.begin(),
                                 options.excluded_namespaces.end());
  if (const auto* service = std::get_if<ServiceReference>(&options.endpoint)) {
    excluded.insert(service->ns);
  }
  if (excluded.empty()) return {};
  return {{"matchExpressions", json::Array{json::Object{{"key", "kubernetes.io/metadata.name"},
                                                        {"operator", "NotIn"},
                                                        {"values", ToArray(excluded)}}}}};
}

json::Object Webhook(const ConfigurationOptions& options, std::string name,
                     const std::string& quota_api, std::string_view ca_pem, json::Array rules) {
  return {{"name", std::move(name)},
          {"admissionReviewVersions", json::Array{"v1"}},
          {"clientConfig", ClientConfig(options, quota_api, ca_pem)},
          {"failurePolicy", options.failure_policy},
          {"matchPolicy", "Equivalent"},
          {"namespaceSelector", NamespaceSelector(options)},
          {"objectSelector", json::Object()},
          {"rules", std::move(rules)},
          {"sideEffects", "NoneOnDryRun"},
          {"timeoutSeconds", options.timeout.count()}};
}

// "updates.services.core.quota-controller-manager.io". Groups and plurals may be so long that the
// two do not fit; a number then stands for them.
std::string UpdatesName(const GuardedResource& guarded) {
  const std::string suffix = "." + guarded.quota_api + std::string(kDomain);
  std::string name = "updates." + guarded.resource.ToString() + suffix;
  if (name.size() <= kLongestName) return name;
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx",
                static_cast<unsigned long long>(quota::HashText(guarded.resource.ToString())));
  return std::string("updates.x").append(digits.data()).append(suffix);
}

json::Value UpdatesWebhook(const ConfigurationOptions& options, const GuardedResource& guarded,
                           std::string_view ca_pem) {
  json::Array rules{
      Rule("UPDATE", {guarded.resource.group, guarded.version}, {guarded.resource.resource})};
  json::Object webhook =
      Webhook(options, UpdatesName(guarded), guarded.quota_api, ca_pem, std::move(rules));
  webhook.Set("matchConditions",
              json::Array{json::Object{{"name", "can-need-quota"},
                                       {"expression", guarded.update_condition}}});
  return webhook;
}

// Adds what needs no condition.
void AddTo(ByGroup& groups, const GuardedResource& guarded) {
  Resources& resources = groups[{guarded.resource.group, guarded.version}];
  const std::string& plural = guarded.resource.resource;
  resources.create.insert(plural);
  if (guarded.updates && guarded.update_condition.empty()) resources.update.insert(plural);
  for (const std::string& subresource : guarded.subresources) {
    resources.update.insert(std::string(plural).append("/").append(subresource));
  }
}

bool IsPlainText(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

}  // namespace

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
  const std::set<GuardedResource> sorted(guarded.begin(), guarded.end());
  std::map<std::string, ByGroup> unconditional;  // by quota API
  json::Array conditional;
  for (const GuardedResource& one : sorted) {
    if (!IsPlain(one.resource)) continue;
    AddTo(unconditional[one.quota_api], one);
    if (one.updates && !one.update_condition.empty()) {
      conditional.push_back(UpdatesWebhook(options, one, ca_pem));
    }
  }
  json::Array webhooks;
  for (const auto& [quota_api, groups] : unconditional) {
    webhooks.emplace_back(
        Webhook(options, quota_api + std::string(kDomain), quota_api, ca_pem, RulesOf(groups)));
  }
  std::ranges::move(conditional, std::back_inserter(webhooks));
  json::Object metadata{{"name", options.name},
                        {"labels", json::Object{{std::string(kManagedByLabel), kManagedByUs}}}};
  if (!options.installation.empty()) {
    metadata.Set("annotations",
                 json::Object{{std::string(kInstallationAnnotation), options.installation}});
  }
  return json::Object{{"apiVersion", kWebhookConfigurations.GroupVersion()},
                      {"kind", "ValidatingWebhookConfiguration"},
                      {"metadata", std::move(metadata)},
                      {"webhooks", std::move(webhooks)}};
}

}  // namespace admission
