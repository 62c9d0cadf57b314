#include "pkg/webhook/stored_configuration.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/base/base64.h"
#include "pkg/webhook/ownership.h"
#include "pkg/webhook/selected_namespaces.h"

namespace webhook {
namespace {

bool Has(const json::Array& texts, std::string_view text) {
  return std::ranges::any_of(texts, [&](const json::Value& known) {
    return known.AsString() != nullptr && *known.AsString() == text;
  });
}

// Reads it from the webhook's path; "" if it is not a path of ours.
std::string QuotaApiOf(const json::Value& webhook) {
  std::string_view path = webhook.StringAt({"clientConfig", "url"});
  if (path.empty()) path = webhook.StringAt({"clientConfig", "service", "path"});
  const std::size_t at = path.rfind(kValidatePath);
  return at == std::string_view::npos ? "" : std::string(path.substr(at + kValidatePath.size()));
}

using Names = std::set<std::string, std::less<>>;

// What a webhook asks about a resource: "CREATE", "UPDATE", or a subresource.
struct Question {
  std::string operation;
  std::string condition;
  std::string version;
  auto operator<=>(const Question&) const = default;
};
struct ReadGuard {
  GuardedResource guarded;
  std::map<Question, std::vector<Selected>> asked;
  bool creates = false;
};
using ReadByKey = std::map<std::pair<std::string, api::GroupResource>, ReadGuard>;

// The properties that all rules of one webhook share.
struct Asking {
  std::string quota_api;
  std::string condition;
  Selected selected;
};

void ReadResource(const json::Value& rule, const std::string& group, std::string_view text,
                  const Asking& asking, ReadByKey& found) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const api::GroupResource resource{group, std::string(text.substr(0, slash))};
  if (!IsPlain(resource)) return;
  ReadGuard& read = found[{asking.quota_api, resource}];
  read.guarded.quota_api = asking.quota_api;
  read.guarded.resource = resource;
  for (const json::Value& version : rule.ArrayAt({"apiVersions"})) {
    const bool any = version.AsString() == nullptr || *version.AsString() == "*";
    read.guarded.version = any ? "" : *version.AsString();
  }
  const auto ask = [&](std::string operation) {
    read.asked[{std::move(operation), asking.condition, read.guarded.version}].push_back(
        asking.selected);
  };
  const json::Array& operations = rule.ArrayAt({"operations"});
  // A CREATE with a condition guards nothing: the condition may exclude creations.
  const bool creates = slash == text.size() && asking.condition.empty();
  if (creates && Has(operations, "CREATE")) {
    read.creates = true;
    ask("CREATE");
  }
  if (!Has(operations, "UPDATE")) return;
  if (slash < text.size()) {
    read.guarded.subresources.emplace_back(text.substr(slash + 1));
    ask(std::string(text.substr(slash)));
  } else {
    read.guarded.updates = true;
    read.guarded.update_condition = asking.condition;
    ask("UPDATE");
  }
}

void ReadWebhook(const json::Value& webhook, const Selected& selected, ReadByKey& found) {
  Asking asking{.quota_api = QuotaApiOf(webhook), .condition = "", .selected = selected};
  if (asking.quota_api.empty()) return;
  for (const json::Value& one : webhook.ArrayAt({"matchConditions"})) {
    asking.condition = one.StringAt({"expression"});
  }
  for (const json::Value& rule : webhook.ArrayAt({"rules"})) {
    if (rule.StringAt({"scope"}) == "Cluster") continue;  // what is counted is in namespaces
    for (const json::Value& group : rule.ArrayAt({"apiGroups"})) {
      for (const json::Value& resource : rule.ArrayAt({"resources"})) {
        if (group.AsString() == nullptr || resource.AsString() == nullptr) continue;
        ReadResource(rule, *group.AsString(), *resource.AsString(), asking, found);
      }
    }
  }
}

// A resource is guarded where everything is asked that any webhook asks about it. We name the same
// version in all rules of a resource, so one with several versions is not asked about as it was.
std::vector<GuardedResource> Collect(ReadByKey&& found, const Names& exempt) {
  std::vector<GuardedResource> guarded;
  for (auto& [key, read] : found) {
    const bool alike = std::ranges::all_of(read.asked, [&, &read = read](const auto& entry) {
      return entry.first.version == read.guarded.version;
    });
    if (!read.creates || !alike) continue;
    std::vector<std::string>& subresources = read.guarded.subresources;
    std::ranges::sort(subresources);
    subresources.erase(std::unique(subresources.begin(), subresources.end()), subresources.end());
    for (const auto& [question, selected] : read.asked) {
      read.guarded.namespaces =
          Intersection(read.guarded.namespaces, Union(selected, exempt), exempt);
    }
    guarded.push_back(std::move(read.guarded));
  }
  return guarded;
}

bool IsEmpty(const json::Value& value) {
  return value.IsNull() || (value.IsArray() && value.AsArray()->empty()) ||
         (value.IsObject() && value.AsObject()->empty());
}

// Members that change which requests are sent, or where to, if they are present at all. Any other
// member that we do not set is a default of the server.
bool IsMeaningful(std::string_view member) {
  constexpr std::array<std::string_view, 6> kMembers = {
      "caBundle", "matchConditions", "matchExpressions", "matchLabels", "service", "url"};
  return std::ranges::find(kMembers, member) != kMembers.end();
}

bool SaysTheSame(const json::Value& live, const json::Value& desired) {
  if (desired.IsArray()) {
    return live.IsArray() && std::ranges::equal(*live.AsArray(), *desired.AsArray(), SaysTheSame);
  }
  if (!desired.IsObject()) return live == desired;
  if (!live.IsObject()) return IsEmpty(desired) && IsEmpty(live);
  const bool all_there = std::ranges::all_of(*desired.AsObject(), [&](const json::Member& member) {
    const json::Value* stored = live.AsObject()->Find(member.first);
    return stored != nullptr ? SaysTheSame(*stored, member.second) : IsEmpty(member.second);
  });
  return all_there && std::ranges::none_of(*live.AsObject(), [&](const json::Member& member) {
           return IsMeaningful(member.first) && !IsEmpty(member.second) &&
                  !desired.AsObject()->Contains(member.first);
         });
}

json::Array WebhooksOf(const json::Value& configuration) {
  return configuration.ArrayAt({"webhooks"});
}

void DropCaBundles(json::Array& webhooks) {
  for (json::Value& webhook : webhooks) {
    json::Value& config = webhook.Make({"clientConfig"});
    if (json::Object* members = config.AsObject()) members->Erase("caBundle");
  }
}

// True if an annotation asks an injector to set the bundle.
bool IsInjected(const json::Value& live) {
  const json::Value* annotations = api::Annotations(live);
  if (annotations == nullptr || !annotations->IsObject()) return false;
  return std::ranges::any_of(*annotations->AsObject(), [](const json::Member& annotation) {
    return annotation.first.starts_with("cert-manager.io/inject-") ||
           annotation.first == "service.beta.openshift.io/inject-cabundle";
  });
}

// True if the patch must not change the bundle: somebody injects it, or we have none.
bool LeavesBundle(const json::Value& live, const json::Value& desired) {
  const bool given = std::ranges::any_of(desired.ArrayAt({"webhooks"}), [](const auto& webhook) {
    return webhook.At({"clientConfig", "caBundle"}) != nullptr;
  });
  return !given || IsInjected(live);
}

// The bundle of the webhook with this name, or else of any other: all have the same.
std::string StoredBundle(const json::Array& live, std::string_view name) {
  std::string bundle;
  for (const json::Value& webhook : live) {
    const std::string_view stored = webhook.StringAt({"clientConfig", "caBundle"});
    if (webhook.StringAt({"name"}) == name) return std::string(stored);
    if (bundle.empty()) bundle = stored;
  }
  return bundle;
}

// A merge patch replaces the whole list of webhooks, so it must repeat the stored bundles. Without
// any, ours is stored, which the injector replaces: until it does, API servers could not call us.
void KeepBundles(const json::Array& live, json::Array& webhooks) {
  for (json::Value& webhook : webhooks) {
    std::string bundle = StoredBundle(live, webhook.StringAt({"name"}));
    if (!bundle.empty()) webhook.Make({"clientConfig", "caBundle"}) = std::move(bundle);
  }
}

const json::Array& OwnersOf(const json::Value& configuration) {
  return configuration.ArrayAt({"metadata", "ownerReferences"});
}

bool HasOwners(const json::Value& live, const json::Value& desired) {
  return std::ranges::all_of(OwnersOf(desired), [&](const json::Value& owner) {
    return std::ranges::any_of(OwnersOf(live), [&](const json::Value& known) {
      return known.StringAt({"uid"}) == owner.StringAt({"uid"});
    });
  });
}

// The owners of others and the desired ones. A desired owner replaces one of the same kind and
// name, which has the UID of an earlier object.
json::Array MergedOwners(const json::Value& live, const json::Value& desired) {
  json::Array owners = OwnersOf(desired);
  for (const json::Value& known : OwnersOf(live)) {
    const bool replaced = std::ranges::any_of(OwnersOf(desired), [&](const json::Value& owner) {
      return known.StringAt({"kind"}) == owner.StringAt({"kind"}) &&
             known.StringAt({"name"}) == owner.StringAt({"name"});
    });
    if (!replaced) owners.push_back(known);
  }
  return owners;
}

}  // namespace

std::vector<GuardedResource> GuardedBy(const json::Value& configuration,
                                       const json::Value& not_exempt) {
  ReadByKey found;
  for (const json::Value& webhook : configuration.ArrayAt({"webhooks"})) {
    ReadWebhook(webhook, AtMostSelectedBy(webhook, not_exempt), found);
  }
  return Collect(std::move(found), {});
}

std::vector<GuardedResource> GuardedAsDesired(const json::Value& live, const json::Value& desired,
                                              const Names& exempt, const json::Value& not_exempt) {
  const bool leaves_bundle = LeavesBundle(live, desired);
  const auto shell = [&](const json::Value& webhook) {
    json::Array one{webhook};
    for (const char* member : {"name", "rules", "namespaceSelector", "matchConditions"}) {
      one[0].AsObject()->Erase(member);
    }
    if (leaves_bundle) DropCaBundles(one);
    return one[0];
  };
  json::Array shells;  // of `desired`: they differ in the quota API only
  for (const json::Value& webhook : desired.ArrayAt({"webhooks"})) {
    json::Value wanted = shell(webhook);
    if (std::ranges::find(shells, wanted) == shells.end()) shells.push_back(std::move(wanted));
  }
  ReadByKey found;
  for (const json::Value& webhook : live.ArrayAt({"webhooks"})) {
    // We write at most one condition. Another one may exclude requests that can need quota.
    if (!webhook.IsObject() || webhook.ArrayAt({"matchConditions"}).size() > 1) continue;
    const auto selected = SelectedBy(webhook, not_exempt);
    if (!selected) continue;
    const json::Value shown = shell(webhook);
    const auto agrees = [&](const json::Value& wanted) { return SaysTheSame(shown, wanted); };
    if (std::ranges::any_of(shells, agrees)) ReadWebhook(webhook, *selected, found);
  }
  return Collect(std::move(found), exempt);
}

bool SameConfiguration(const json::Value& live, const json::Value& desired) {
  if (!HasOurLabel(live)) return false;
  const std::string_view installation = InstallationOf(desired);
  if (!installation.empty() && InstallationOf(live) != installation) return false;
  if (!HasOwners(live, desired)) return false;
  json::Array stored = WebhooksOf(live);
  json::Array wanted = WebhooksOf(desired);
  if (LeavesBundle(live, desired)) {
    DropCaBundles(stored);
    DropCaBundles(wanted);
  }
  return SaysTheSame(stored, wanted);
}

bool DiffersInCaBundleOnly(const json::Value& live, const json::Value& desired) {
  if (!HasOurLabel(live) || SameConfiguration(live, desired)) return false;
  json::Array stored = WebhooksOf(live);
  json::Array wanted = WebhooksOf(desired);
  DropCaBundles(stored);
  DropCaBundles(wanted);
  return SaysTheSame(stored, wanted);
}

std::set<std::string> CaBundlesOf(const json::Value& configuration) {
  std::set<std::string> bundles;
  for (const json::Value& webhook : configuration.ArrayAt({"webhooks"})) {
    const auto bundle = base::DecodeBase64(webhook.StringAt({"clientConfig", "caBundle"}));
    bundles.insert(bundle ? *bundle : std::string());
  }
  return bundles;
}

bool AsksNobody(const json::Value& configuration) {
  return configuration.ArrayAt({"webhooks"}).empty();
}

bool HasCaBundle(const json::Value& configuration, std::string_view ca_pem) {
  const std::string bundle = base::EncodeBase64(ca_pem);
  return std::ranges::all_of(configuration.ArrayAt({"webhooks"}), [&](const auto& webhook) {
    return webhook.StringAt({"clientConfig", "caBundle"}) == bundle;
  });
}

json::Value ConfigurationPatch(const json::Value& live, const json::Value& desired) {
  json::Array webhooks = WebhooksOf(desired);
  if (LeavesBundle(live, desired)) KeepBundles(WebhooksOf(live), webhooks);
  json::Object metadata{{"resourceVersion", api::ResourceVersion(live)}};
  if (!IsLabelledByInstaller(live)) {
    metadata.Set("labels", json::Object{{std::string(kManagedByLabel), kManagedByUs}});
  }
  if (!HasOwners(live, desired)) metadata.Set("ownerReferences", MergedOwners(live, desired));
  json::Object annotations;
  const std::string_view installation = InstallationOf(desired);
  if (!installation.empty()) {
    annotations.Set(std::string(kInstallationAnnotation), std::string(installation));
  }
  // A replica that writes rules removes the mark of a leader that only counts.
  if (!AnnotationOf(live, kCountingAnnotation).empty() && !AsksNobody(desired)) {
    annotations.Set(std::string(kCountingAnnotation), json::Value());
  }
  if (!annotations.empty()) metadata.Set("annotations", std::move(annotations));
  return json::Object{{"metadata", std::move(metadata)}, {"webhooks", std::move(webhooks)}};
}

}  // namespace webhook
