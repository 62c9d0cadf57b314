#include "pkg/admission/stored_configuration.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "pkg/admission/ownership.h"
#include "pkg/api/object_meta.h"
#include "pkg/base/base64.h"

namespace admission {
namespace {

const json::Array& Elements(const json::Value& value, std::string_view member) {
  static const json::Array none;
  const json::Value* list = value.At({member});
  return list == nullptr || list->AsArray() == nullptr ? none : *list->AsArray();
}

bool Names(const json::Array& texts, std::string_view text) {
  return std::ranges::any_of(texts, [&](const json::Value& known) {
    return known.AsString() != nullptr && *known.AsString() == text;
  });
}

// "" if the webhook is none of ours.
std::string QuotaApiOf(const json::Value& webhook) {
  std::string_view path = webhook.StringAt({"clientConfig", "url"});
  if (path.empty()) path = webhook.StringAt({"clientConfig", "service", "path"});
  const std::size_t at = path.rfind(kValidatePath);
  return at == std::string_view::npos ? "" : std::string(path.substr(at + kValidatePath.size()));
}

struct Read {
  GuardedResource guarded;
  bool creates = false;
};
using ReadByKey = std::map<std::pair<std::string, api::GroupResource>, Read>;

void ReadResource(const json::Value& rule, const std::string& group, std::string_view text,
                  const std::string& quota_api, const std::string& condition, ReadByKey& found) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const api::GroupResource resource{group, std::string(text.substr(0, slash))};
  if (!IsPlain(resource)) return;
  Read& read = found[{quota_api, resource}];
  read.guarded.quota_api = quota_api;
  read.guarded.resource = resource;
  for (const json::Value& version : Elements(rule, "apiVersions")) {
    const bool any = version.AsString() == nullptr || *version.AsString() == "*";
    read.guarded.version = any ? "" : *version.AsString();
  }
  const json::Array& operations = Elements(rule, "operations");
  if (slash == text.size() && condition.empty() && Names(operations, "CREATE")) read.creates = true;
  if (!Names(operations, "UPDATE")) return;
  if (slash < text.size()) {
    read.guarded.subresources.emplace_back(text.substr(slash + 1));
  } else {
    read.guarded.updates = true;
    read.guarded.update_condition = condition;
  }
}

void ReadWebhook(const json::Value& webhook, ReadByKey& found) {
  const std::string quota_api = QuotaApiOf(webhook);
  if (quota_api.empty()) return;
  std::string condition;
  for (const json::Value& one : Elements(webhook, "matchConditions")) {
    condition = one.StringAt({"expression"});
  }
  for (const json::Value& rule : Elements(webhook, "rules")) {
    for (const json::Value& group : Elements(rule, "apiGroups")) {
      for (const json::Value& resource : Elements(rule, "resources")) {
        if (group.AsString() == nullptr || resource.AsString() == nullptr) continue;
        ReadResource(rule, *group.AsString(), *resource.AsString(), quota_api, condition, found);
      }
    }
  }
}

std::vector<GuardedResource> Collect(ReadByKey&& found) {
  std::vector<GuardedResource> guarded;
  for (auto& [key, read] : found) {
    std::ranges::sort(read.guarded.subresources);
    if (read.creates) guarded.push_back(std::move(read.guarded));
  }
  return guarded;
}

bool IsEmpty(const json::Value& value) {
  return value.IsNull() || (value.IsArray() && value.AsArray()->empty()) ||
         (value.IsObject() && value.AsObject()->empty());
}

// Members that change which requests come, or where they go, by being there at all. Any other that
// we do not state is a default of the server's.
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
  return Elements(configuration, "webhooks");
}

void DropCaBundles(json::Array& webhooks) {
  for (json::Value& webhook : webhooks) {
    json::Value& config = webhook.Make({"clientConfig"});
    if (json::Object* members = config.AsObject()) members->Erase("caBundle");
  }
}

// Somebody else puts the bundle there.
bool IsInjected(const json::Value& live) {
  const json::Value* annotations = api::Annotations(live);
  if (annotations == nullptr || !annotations->IsObject()) return false;
  return std::ranges::any_of(*annotations->AsObject(), [](const json::Member& annotation) {
    return annotation.first.starts_with("cert-manager.io/inject-") ||
           annotation.first == "service.beta.openshift.io/inject-cabundle";
  });
}

// Its bundle is not ours to say: somebody injects it, or we were given none.
bool LeavesBundle(const json::Value& live, const json::Value& desired) {
  const bool given = std::ranges::any_of(Elements(desired, "webhooks"), [](const auto& webhook) {
    return webhook.At({"clientConfig", "caBundle"}) != nullptr;
  });
  return !given || IsInjected(live);
}

// The bundle of the webhook of this name, or else of any: they are all the same.
std::string StoredBundle(const json::Array& live, std::string_view name) {
  std::string bundle;
  for (const json::Value& webhook : live) {
    const std::string_view stored = webhook.StringAt({"clientConfig", "caBundle"});
    if (webhook.StringAt({"name"}) == name) return std::string(stored);
    if (bundle.empty()) bundle = stored;
  }
  return bundle;
}

void KeepBundles(const json::Array& live, json::Array& webhooks) {
  DropCaBundles(webhooks);
  for (json::Value& webhook : webhooks) {
    std::string bundle = StoredBundle(live, webhook.StringAt({"name"}));
    if (!bundle.empty()) webhook.Make({"clientConfig", "caBundle"}) = std::move(bundle);
  }
}

}  // namespace

std::vector<GuardedResource> GuardedBy(const json::Value& configuration) {
  ReadByKey found;
  for (const json::Value& webhook : Elements(configuration, "webhooks")) {
    ReadWebhook(webhook, found);
  }
  return Collect(std::move(found));
}

std::vector<GuardedResource> GuardedAsDesired(const json::Value& live, const json::Value& desired) {
  const bool leaves_bundle = LeavesBundle(live, desired);
  const auto shell = [&](const json::Value& webhook) {
    json::Array one{webhook};
    one[0].AsObject()->Erase("rules");
    if (leaves_bundle) DropCaBundles(one);
    return one[0];
  };
  ReadByKey found;
  for (const json::Value& webhook : Elements(live, "webhooks")) {
    const auto agrees = [&](const json::Value& wanted) {
      return webhook.StringAt({"name"}) == wanted.StringAt({"name"}) &&
             SaysTheSame(shell(webhook), shell(wanted));
    };
    if (std::ranges::any_of(Elements(desired, "webhooks"), agrees)) ReadWebhook(webhook, found);
  }
  return Collect(std::move(found));
}

bool SameConfiguration(const json::Value& live, const json::Value& desired) {
  if (!HasOurLabel(live)) return false;
  const std::string_view installation = InstallationOf(desired);
  if (!installation.empty() && InstallationOf(live) != installation) return false;
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

bool HasCaBundle(const json::Value& configuration, std::string_view ca_pem) {
  const std::string bundle = base::EncodeBase64(ca_pem);
  return std::ranges::all_of(Elements(configuration, "webhooks"), [&](const auto& webhook) {
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
  const std::string_view installation = InstallationOf(desired);
  if (!installation.empty()) {
    metadata.Set("annotations",
                 json::Object{{std::string(kInstallationAnnotation), std::string(installation)}});
  }
  return json::Object{{"metadata", std::move(metadata)}, {"webhooks", std::move(webhooks)}};
}

}  // namespace admission
