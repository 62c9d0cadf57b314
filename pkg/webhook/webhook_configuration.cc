#include "pkg/webhook/webhook_configuration.h"

#include <glog/logging.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "pkg/api/names.h"
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

const char* NameOf(api::LabelOperator op) {
  switch (op) {
    case api::LabelOperator::kIn:
      return "In";
    case api::LabelOperator::kNotIn:
      return "NotIn";
    case api::LabelOperator::kExists:
      return "Exists";
    default:
      return "DoesNotExist";
  }
}

json::Value Expression(std::string_view key, const char* relation) {
  return json::Object{{"key", std::string(key)}, {"operator", relation}};
}

json::Value NameExpression(const char* relation, const std::set<std::string, std::less<>>& names) {
  return json::Object{{"key", std::string(api::kNamespaceLabel)},
                      {"operator", relation},
                      {"values", ToArray(names)}};
}

json::Object SelectorOf(json::Array expressions) {
  if (expressions.empty()) return {};
  return {{"matchExpressions", std::move(expressions)}};
}

// A namespace that several of them could select is selected by the first one alone.
std::vector<json::Object> SelectorsOf(const ConfigurationOptions& options,
                                      const Namespaces& where) {
  auto left_out = options.Exempt();
  const json::Value not_exempt = options.NotExempt();
  std::vector<json::Object> selectors;
  const auto add = [&](json::Array expressions) {
    if (!not_exempt.IsNull()) expressions.push_back(not_exempt);
    selectors.push_back(SelectorOf(std::move(expressions)));
  };
  if (where.all_but) {
    json::Array all;
    if (!left_out.empty()) all.push_back(NameExpression("NotIn", left_out));
    add(std::move(all));
    return selectors;
  }
  if (!where.names.empty()) {
    add({NameExpression("In", where.names)});
    left_out.insert(where.names.begin(), where.names.end());
  }
  json::Array without;
  if (!left_out.empty()) without.push_back(NameExpression("NotIn", left_out));
  for (const std::string& key : where.label_keys) {
    json::Array labelled{Expression(key, "Exists")};
    std::ranges::copy(without, std::back_inserter(labelled));
    add(std::move(labelled));
    without.push_back(Expression(key, "DoesNotExist"));
  }
  return selectors;
}

// The properties that all webhooks of one quota API share.
struct Callee {
  const ConfigurationOptions& options;
  const std::string& quota_api;
  std::string_view ca_pem;
};

json::Object Webhook(const Callee& callee, std::string name, json::Object selector,
                     json::Array rules) {
  const ConfigurationOptions& options = callee.options;
  return {{"name", std::move(name)},
          {"admissionReviewVersions", json::Array{"v1"}},
          {"clientConfig", ClientConfig(options, callee.quota_api, callee.ca_pem)},
          {"failurePolicy", options.failure_policy},
          {"matchPolicy", "Equivalent"},
          {"namespaceSelector", std::move(selector)},
          {"objectSelector", json::Object()},
          {"rules", std::move(rules)},
          {"sideEffects", "NoneOnDryRun"},  // a dry run reserves nothing
          {"timeoutSeconds", options.timeout.count()}};
}

// "updates.services.core.quota-controller-manager.io", the next for the same resource
// "updates-2.…". If group and plural are too long for a name, a hash replaces them.
std::string NameOfUpdates(const api::GroupResource& resource, const std::string& quota_api,
                          std::size_t number) {
  const std::string start = number == 1 ? "updates." : "updates-" + std::to_string(number) + ".";
  const std::string suffix = "." + quota_api + std::string(kDomain);
  std::string name = start + resource.ToString() + suffix;
  if (name.size() <= kLongestName) return name;
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx",
                static_cast<unsigned long long>(quota::HashText(resource.ToString())));
  return std::string(start).append("x").append(digits.data()).append(suffix);
}

void AddUpdates(const Callee& callee, const GuardedResource& guarded, json::Array& webhooks) {
  std::size_t number = 0;
  for (json::Object& selector : SelectorsOf(callee.options, guarded.namespaces)) {
    json::Array rules{
        Rule("UPDATE", {guarded.resource.group, guarded.version}, {guarded.resource.resource})};
    json::Object webhook =
        Webhook(callee, NameOfUpdates(guarded.resource, guarded.quota_api, ++number),
                std::move(selector), std::move(rules));
    webhook.Set("matchConditions",
                json::Array{json::Object{{"name", "can-need-quota"},
                                         {"expression", guarded.update_condition}}});
    webhooks.emplace_back(std::move(webhook));
  }
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
    for (json::Object& selector : SelectorsOf(callee.options, alike.where)) {
      std::string name = callee.quota_api + std::string(kDomain);
      if (!webhooks.empty()) {
        name.insert(0, "creates-" + std::to_string(webhooks.size() + 1) + ".");
      }
      webhooks.emplace_back(
          Webhook(callee, std::move(name), std::move(selector), RulesOf(alike.groups)));
    }
  }
  for (const GuardedResource& one : guarded) {
    if (one.updates && !one.update_condition.empty()) AddUpdates(callee, one, webhooks);
  }
  return webhooks;
}

// How much of the object the selectors take.
struct Extent {
  std::size_t names = 0;     // that are written, beside exempt ones
  std::size_t for_keys = 0;  // webhooks
  void Add(const Namespaces& where) {
    names += where.names.size() * (1 + where.label_keys.size());
    for_keys += where.label_keys.size();
  }
};

void AddTo(Extent& extent, const std::vector<GuardedResource>& guarded) {
  for (const Alike& alike : Unconditional(guarded)) extent.Add(alike.where);
  for (const GuardedResource& one : guarded) {
    if (!one.update_condition.empty()) extent.Add(one.namespaces);
  }
}

using ByQuotaApi = std::map<std::string, std::vector<GuardedResource>>;

// The resources that rules can name, sorted. Selects all namespaces where there are too many names
// or label keys.
ByQuotaApi Bounded(const std::vector<GuardedResource>& guarded) {
  const std::set<GuardedResource> sorted(guarded.begin(), guarded.end());
  ByQuotaApi apis;
  for (const GuardedResource& one : sorted) {
    const Namespaces& where = one.namespaces;
    const bool nowhere = !where.all_but && where.names.empty() && where.label_keys.empty();
    if (nowhere || !IsPlain(one.resource)) continue;
    GuardedResource& added = apis[one.quota_api].emplace_back(one);
    const bool many =
        where.names.size() > kMostNamespaces || where.label_keys.size() > kMostLabelKeys;
    if (many) added.namespaces = {};
  }
  Extent extent;
  for (const auto& [quota_api, resources] : apis) AddTo(extent, resources);
  const bool too_many_names = extent.names > kMostNamesInAll;
  const bool too_many_webhooks = extent.for_keys > kMostWebhooksForKeys;
  for (auto& [quota_api, resources] : apis) {
    for (GuardedResource& one : resources) {
      const bool by_keys = !one.namespaces.label_keys.empty();
      if (too_many_names || (too_many_webhooks && by_keys)) one.namespaces = {};
    }
  }
  return apis;
}

// Conditions are dropped, the largest first, until their webhooks are small enough. Each of these
// repeats the condition, the CA bundle and names of namespaces.
void BoundConditions(const ConfigurationOptions& options, std::string_view ca_pem,
                     ByQuotaApi& apis) {
  std::vector<std::pair<std::size_t, GuardedResource*>> by_size;
  std::size_t bytes = 0;
  for (auto& [quota_api, resources] : apis) {
    const Callee callee{.options = options, .quota_api = quota_api, .ca_pem = ca_pem};
    for (GuardedResource& one : resources) {
      if (!one.updates || one.update_condition.empty()) continue;
      json::Array webhooks;
      AddUpdates(callee, one, webhooks);
      const std::size_t size = json::Write(json::Value(std::move(webhooks))).size();
      bytes += size;
      by_size.emplace_back(size, &one);
    }
  }
  std::ranges::stable_sort(by_size, std::greater(), [](const auto& one) { return one.first; });
  for (const auto& [size, one] : by_size) {
    if (bytes <= kMostBytesForConditions) return;
    one->update_condition.clear();
    bytes -= size;
  }
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

std::optional<api::LabelRequirement> Negation(const api::LabelRequirement& requirement) {
  using Operator = api::LabelOperator;
  api::LabelRequirement other = requirement;
  switch (requirement.op) {
    case Operator::kIn:
      other.op = Operator::kNotIn;
      return other;
    case Operator::kNotIn:
      other.op = Operator::kIn;
      return other;
    case Operator::kExists:
      other.op = Operator::kDoesNotExist;
      return other;
    case Operator::kDoesNotExist:
      other.op = Operator::kExists;
      return other;
    case Operator::kGreaterThan:
    case Operator::kLessThan:
      return std::nullopt;
  }
  return std::nullopt;
}

json::Value ConfigurationOptions::NotExempt() const {
  if (!exempt_labels) return {};
  const auto other = Negation(*exempt_labels);
  CHECK(other) << exempt_labels->key;
  json::Object expression{{"key", other->key}, {"operator", std::string(NameOf(other->op))}};
  if (!other->values.empty()) expression.Set("values", ToArray(other->values));
  return expression;
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
  ByQuotaApi apis = Bounded(guarded);
  BoundConditions(options, ca_pem, apis);
  for (const auto& [quota_api, resources] : apis) {
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
