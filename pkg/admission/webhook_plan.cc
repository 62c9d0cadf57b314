#include "pkg/admission/webhook_plan.h"

#include <algorithm>

#include "pkg/admission/ownership.h"
#include "pkg/admission/stored_configuration.h"
#include "pkg/api/object_meta.h"
#include "pkg/api/resource_version.h"

namespace admission {
namespace {

bool IsOlder(const json::Value& live, const json::Value& known) {
  return api::Uid(live) == api::Uid(known) &&
         api::IsOlderVersion(api::ResourceVersion(live), api::ResourceVersion(known))
             .value_or(false);
}

}  // namespace

WebhookPlan::WebhookPlan(WebhookPlanOptions options) : options_(std::move(options)) {}

void WebhookPlan::SetWanted(base::TimePoint now, const std::string& quota_api,
                            const std::vector<GuardedResource>& wanted) {
  std::set<Key> keys;
  for (const GuardedResource& guarded : wanted) {
    if (!IsPlain(guarded.resource)) continue;  // never stored
    const Key key{quota_api, guarded.resource};
    keys.insert(key);
    Rule& rule = rules_[key];
    rule.unwanted_since.reset();
    if (rule.guarded == guarded) continue;
    rule = {.guarded = guarded, .unwanted_since = {}, .shown_since = {}, .stored = rule.stored};
  }
  const bool first = told_.insert(quota_api).second;
  for (auto& [key, rule] : rules_) {
    if (key.first != quota_api || keys.contains(key)) continue;
    // Until now nobody could have wanted it.
    if (first || !rule.unwanted_since) rule.unwanted_since = now;
  }
  if (known_) AdoptLive(now);
}

void WebhookPlan::SetCaBundle(base::TimePoint now, std::string pem) {
  ca_pem_ = std::move(pem);
  if (known_) AdoptLive(now);
}

void WebhookPlan::OnLive(base::TimePoint now, const json::Value* live) {
  if (live != nullptr && live_ && IsOlder(*live, *live_)) return;
  known_ = true;
  live_.reset();
  if (live != nullptr) live_ = *live;
  AdoptLive(now);
}

// What the server has and nobody wanted yet may be another replica's wish.
void WebhookPlan::AdoptLive(base::TimePoint now) {
  if (!live_ || IsForeign()) {
    for (auto& [key, rule] : rules_) rule.shown_since.reset();
    return;
  }
  for (const GuardedResource& guarded : GuardedBy(*live_)) {
    rules_.try_emplace(
        {guarded.quota_api, guarded.resource},
        Rule{.guarded = guarded, .unwanted_since = now, .shown_since = {}, .stored = false});
  }
  const std::vector<GuardedResource> as_desired = GuardedAsDesired(*live_, Desired());
  for (auto& [key, rule] : rules_) {
    const bool shown = std::ranges::binary_search(as_desired, rule.guarded);
    if (!shown) rule.shown_since.reset();
    if (shown && !rule.shown_since) rule.shown_since = now;
  }
}

bool WebhookPlan::MayGiveUp(const Rule& rule) const {
  const std::string& quota_api = rule.guarded.quota_api;
  const bool will_tell =
      std::ranges::find(options_.quota_apis, quota_api) != options_.quota_apis.end();
  return rule.unwanted_since && (told_.contains(quota_api) || !will_tell);
}

void WebhookPlan::Advance(base::TimePoint now) {
  const auto given_up = std::erase_if(rules_, [&](const auto& entry) {
    return MayGiveUp(entry.second) && GivenUpAt(entry.second) <= now;
  });
  if (given_up > 0) changed_ = true;
  for (auto& [key, rule] : rules_) {
    if (rule.stored || !rule.shown_since || *rule.shown_since + options_.propagation > now)
      continue;
    rule.stored = true;
    changed_ = true;
  }
}

std::optional<base::TimePoint> WebhookPlan::NextDeadline() const {
  std::optional<base::TimePoint> next;
  const auto consider = [&](base::TimePoint at) { next = next ? std::min(*next, at) : at; };
  for (const auto& [key, rule] : rules_) {
    if (MayGiveUp(rule)) consider(GivenUpAt(rule));
    if (!rule.stored && rule.shown_since) consider(*rule.shown_since + options_.propagation);
  }
  return next;
}

json::Value WebhookPlan::Desired() const {
  std::vector<GuardedResource> guarded;
  for (const auto& [key, rule] : rules_) guarded.push_back(rule.guarded);
  return DesiredConfiguration(options_.configuration, guarded, ca_pem_.value_or(""));
}

std::optional<WebhookPlan::Write> WebhookPlan::Next() const {
  if (!known_ || !ca_pem_ || IsForeign()) return std::nullopt;
  if (!live_ && rules_.empty()) return std::nullopt;
  json::Value desired = Desired();
  if (!live_) return Write{.create = true, .body = std::move(desired)};
  if (SameConfiguration(*live_, desired)) return std::nullopt;
  return Write{.create = false, .body = ConfigurationPatch(*live_, desired)};
}

bool WebhookPlan::Stored(std::string_view quota_api, const api::GroupResource& resource) const {
  const auto found = rules_.find({std::string(quota_api), resource});
  return found != rules_.end() && found->second.stored;
}

bool WebhookPlan::IsForeign() const {
  return live_ && (!HasOurLabel(*live_) || !OtherInstallation().empty());
}

std::string WebhookPlan::OtherInstallation() const {
  const std::string& ours = options_.configuration.installation;
  if (!live_ || ours.empty() || !HasOurLabel(*live_) || InstallationOf(*live_) == ours) return "";
  return std::string(InstallationOf(*live_));
}

bool WebhookPlan::IsCaBundleStored(std::string_view pem) const {
  return known_ && !IsForeign() && (!live_ || HasCaBundle(*live_, pem));
}

bool WebhookPlan::HasOtherCaBundle() const {
  return live_ && ca_pem_ && DiffersInCaBundleOnly(*live_, Desired());
}

std::string WebhookPlan::Missing() const {
  if (!known_) return "it is not known yet what is stored";
  if (const std::string other = OtherInstallation(); !other.empty()) {
    return "it belongs to the installation " + other + ", and this is " +
           options_.configuration.installation +
           ": there can be one in a cluster. Take one of them away, with --uninstall";
  }
  if (IsForeign()) {
    return "an object of this name does not carry the label " + std::string(kManagedByLabel) + "=" +
           std::string(kManagedByUs) + " and is left alone";
  }
  if (!ca_pem_) return "there is no certificate yet";
  for (const std::string& quota_api : options_.quota_apis) {
    if (!told_.contains(quota_api)) return "quotas of " + quota_api + " are not listed yet";
  }
  std::size_t missing = 0;
  std::string first;
  for (const auto& [key, rule] : rules_) {
    if (rule.unwanted_since || rule.stored) continue;
    if (missing++ == 0) first = rule.guarded.resource.ToString();
  }
  if (missing == 0) return "";
  return "rules of " + std::to_string(missing) + " resources are not stored yet, one is " + first;
}

}  // namespace admission
