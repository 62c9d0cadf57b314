#include "pkg/webhook/webhook_plan.h"

#include <glog/logging.h>

#include <algorithm>
#include <iterator>

#include "pkg/api/object_meta.h"
#include "pkg/api/resource_version.h"
#include "pkg/http/certificate.h"
#include "pkg/webhook/certificate_keyring.h"
#include "pkg/webhook/ownership.h"
#include "pkg/webhook/shared_rules.h"
#include "pkg/webhook/stored_configuration.h"

namespace webhook {
namespace {

bool IsOlder(const json::Value& live, const json::Value& known) {
  return api::Uid(live) == api::Uid(known) &&
         api::IsOlderVersion(api::ResourceVersion(live), api::ResourceVersion(known))
             .value_or(false);
}

GuardedResource WithoutNamespaces(GuardedResource guarded) {
  guarded.namespaces = {};
  return guarded;
}

// The rules that are stored, by quota API and resource. A shared one is there for each of its quota
// APIs.
using StoredRules = std::multimap<std::pair<std::string, api::GroupResource>, GuardedResource>;
StoredRules RulesByQuotaApi(const std::vector<GuardedResource>& stored) {
  StoredRules rules;
  for (const GuardedResource& one : stored) {
    for (const std::string& quota_api : QuotaApisIn(one.quota_api)) {
      rules.emplace(std::pair(quota_api, one.resource), one);
    }
  }
  return rules;
}

}  // namespace

std::set<WebhookPlan::Place> WebhookPlan::PlacesOf(const Namespaces& namespaces) {
  const bool many =
      namespaces.names.size() > kMostNamespaces || namespaces.label_keys.size() > kMostLabelKeys;
  if (namespaces.all_but || many) return {Place{}};
  std::set<Place> places;
  for (const std::string& ns : namespaces.names) places.insert({Place::Kind::kNamed, ns});
  for (const std::string& key : namespaces.label_keys) {
    places.insert({Place::Kind::kLabelled, key});
  }
  return places;
}

WebhookPlan::WebhookPlan(WebhookPlanOptions options) : options_(std::move(options)) {}

void WebhookPlan::SetWanted(base::TimePoint now, const std::string& quota_api,
                            const std::vector<GuardedResource>& wanted) {
  WantedPlaces places;
  for (const GuardedResource& guarded : wanted) {
    if (IsPlain(guarded.resource)) Want(guarded, places);  // a rule cannot name any other
  }
  NoticeUnwanted(now, quota_api, places);
  if (known_) AdoptLive(now);
}

void WebhookPlan::Want(const GuardedResource& guarded, WantedPlaces& wanted) {
  const Key key{guarded.quota_api, guarded.resource};
  Rule& rule = rules_[key];
  GuardedResource what = WithoutNamespaces(guarded);
  if (rule.guarded != what) {
    rule.guarded = std::move(what);
    // The stored rule is about the former condition or version. Names that come now are in force
    // only once the new one was shown.
    for (auto& [place, state] : rule.places) {
      state.shown_since.reset();
      if (std::exchange(state.stored, false)) changed_ = true;
    }
  }
  std::set<Place> places = PlacesOf(guarded.namespaces);
  for (const Place& place : places) rule.places[place].unwanted_since.reset();
  wanted[key] = std::move(places);
}

void WebhookPlan::NoticeUnwanted(base::TimePoint now, const std::string& quota_api,
                                 const WantedPlaces& wanted) {
  const bool first = told_.insert(quota_api).second;
  for (auto& [key, rule] : rules_) {
    if (key.first != quota_api) continue;
    const auto places = wanted.find(key);
    for (auto& [place, state] : rule.places) {
      if (places != wanted.end() && places->second.contains(place)) continue;
      // The first report starts the grace period: nobody could want the rule before.
      if (first || !state.unwanted_since) state.unwanted_since = now;
    }
  }
}

void WebhookPlan::SetCaBundle(base::TimePoint now, std::string pem) {
  ca_pem_ = std::move(pem);
  if (known_) AdoptLive(now);
}

void WebhookPlan::OnLive(base::TimePoint now, const json::Value* live, bool true_if_older) {
  if (live != nullptr && live_ && !true_if_older && IsOlder(*live, *live_)) return;
  known_ = true;
  live_.reset();
  if (live != nullptr) live_ = *live;
  AdoptLive(now);
}

void WebhookPlan::AdoptLive(base::TimePoint now) {
  open_.Update(now, live());
  if (!live_ || IsForeign()) {
    for (auto& [key, rule] : rules_) {
      for (auto& [place, state] : rule.places) state.shown_since.reset();
    }
    return;
  }
  const std::vector<GuardedResource> live = GuardedBy(*live_, options_.configuration.NotExempt());
  for (const GuardedResource& guarded : live) Adopt(now, guarded);
  ForgetUnwanted(live);
  NoticeShown(now);
}

// A stored rule that this replica does not want may be wanted by another one, so its grace period
// starts. A place of a shared rule may be wanted by any of its quota APIs.
void WebhookPlan::Adopt(base::TimePoint now, const GuardedResource& guarded) {
  std::vector<Rule*> rules;
  for (const std::string& quota_api : QuotaApisIn(guarded.quota_api)) {
    GuardedResource own = WithoutNamespaces(guarded);
    own.quota_api = quota_api;
    const Key key{quota_api, guarded.resource};
    rules.push_back(&rules_.try_emplace(key, Rule{std::move(own), {}}).first->second);
  }
  for (const Place& place : PlacesOf(guarded.namespaces)) {
    const auto has = [&](const Rule* rule) { return rule->places.contains(place); };
    if (std::ranges::any_of(rules, has)) continue;
    for (Rule* rule : rules) {
      rule->places.emplace(place, State{.unwanted_since = now, .shown_since = {}, .stored = false});
    }
  }
}

// Another replica has removed these rules, and would remove them again if they were restored.
void WebhookPlan::ForgetUnwanted(const std::vector<GuardedResource>& live) {
  const StoredRules guarded = RulesByQuotaApi(live);
  for (auto& [key, rule] : rules_) {
    const auto [first, end] = guarded.equal_range(key);
    const auto is_forgotten = [&, &rule = rule, first = first, end = end](const auto& entry) {
      const auto& [place, state] = entry;
      if (!MayGiveUp(rule, state)) return false;
      return std::none_of(first, end, [&, &place = place](const auto& one) {
        return IsIn(one.second.namespaces, place);
      });
    };
    if (std::erase_if(rule.places, is_forgotten) > 0) changed_ = true;
  }
  std::erase_if(rules_, [](const auto& entry) { return entry.second.places.empty(); });
}

// A rule counts only in webhooks that equal the desired ones: another one may call elsewhere, or
// with another condition. One without a condition will do.
void WebhookPlan::NoticeShown(base::TimePoint now) {
  const auto exempt = options_.configuration.Exempt();
  const json::Value not_exempt = options_.configuration.NotExempt();
  const StoredRules as_desired =
      RulesByQuotaApi(GuardedAsDesired(*live_, Desired(), exempt, not_exempt));
  for (auto& [key, rule] : rules_) {
    const auto [first, end] = as_desired.equal_range(key);
    for (auto& [place, state] : rule.places) {
      const bool shown =
          std::any_of(first, end, [&, &rule = rule, &place = place](const auto& one) {
            return AsksFor(one.second, rule.guarded) && IsIn(one.second.namespaces, place);
          });
      if (!shown) state.shown_since.reset();
      if (shown && !state.shown_since) state.shown_since = now;
    }
  }
}

bool WebhookPlan::IsIn(const Namespaces& namespaces, const Place& place) const {
  if (place.kind == Place::Kind::kNamed) return namespaces.Contain(place.text);
  // All namespaces are guarded only if nothing but exempt ones is left out.
  const bool all = namespaces.all_but &&
                   std::ranges::includes(options_.configuration.Exempt(), namespaces.names);
  const bool labelled = place.kind == Place::Kind::kLabelled;
  return all || (labelled && namespaces.label_keys.contains(place.text));
}

base::TimePoint WebhookPlan::GivenUpAt(const State& state) const {
  CHECK(state.unwanted_since) << "a rule is given up that is wanted";
  return *state.unwanted_since + options_.grace;
}

bool WebhookPlan::MayGiveUp(const Rule& rule, const State& state) const {
  const std::string& quota_api = rule.guarded.quota_api;
  const bool will_tell =
      std::ranges::find(options_.quota_apis, quota_api) != options_.quota_apis.end();
  return state.unwanted_since && (told_.contains(quota_api) || !will_tell);
}

void WebhookPlan::Advance(base::TimePoint now) {
  open_.Update(now, live());  // the leader may have changed
  for (auto& [key, rule] : rules_) {
    const auto given_up = std::erase_if(rule.places, [&, &rule = rule](const auto& entry) {
      return MayGiveUp(rule, entry.second) && GivenUpAt(entry.second) <= now;
    });
    if (given_up > 0) changed_ = true;
    for (auto& [place, state] : rule.places) {
      const bool due = state.shown_since && *state.shown_since + options_.propagation <= now;
      if (state.stored || !due) continue;
      state.stored = true;
      changed_ = true;
    }
  }
  std::erase_if(rules_, [](const auto& entry) { return entry.second.places.empty(); });
}

std::optional<base::TimePoint> WebhookPlan::NextDeadline() const {
  std::optional<base::TimePoint> next;
  const auto consider = [&](base::TimePoint at) { next = next ? std::min(*next, at) : at; };
  for (const auto& [key, rule] : rules_) {
    for (const auto& [place, state] : rule.places) {
      if (MayGiveUp(rule, state)) consider(GivenUpAt(state));
      if (!state.stored && state.shown_since) consider(*state.shown_since + options_.propagation);
    }
  }
  if (const auto ends = open_.EndsAt()) consider(*ends);
  return next;
}

json::Value WebhookPlan::Desired() const {
  std::vector<GuardedResource> enforced;
  // Of quota APIs that are not enforced any more: they go after the grace period, as they are.
  std::vector<GuardedResource> others;
  for (const auto& [key, rule] : rules_) {
    if (IsOpen()) break;
    CHECK(key == Key(rule.guarded.quota_api, rule.guarded.resource))
        << "the rule of " << key.second.ToString() << " is kept as that of another resource";
    const bool is_enforced =
        std::ranges::find(options_.quota_apis, key.first) != options_.quota_apis.end();
    GuardedResource& one = (is_enforced ? enforced : others).emplace_back(rule.guarded);
    if (rule.places.contains(Place{})) continue;
    one.namespaces.all_but = false;
    for (const auto& [place, state] : rule.places) {
      const bool named = place.kind == Place::Kind::kNamed;
      (named ? one.namespaces.names : one.namespaces.label_keys).insert(place.text);
    }
  }
  std::vector<GuardedResource> stored = Shared(enforced);
  std::ranges::move(others, std::back_inserter(stored));
  return DesiredConfiguration(options_.configuration, stored, ca_pem_.value_or(""));
}

std::optional<WebhookPlan::Write> WebhookPlan::Next() const {
  if (!known_ || !ca_pem_ || IsForeign()) return std::nullopt;
  if (!live_ && (rules_.empty() || IsOpen())) return std::nullopt;  // never creates it empty
  if (waits_to_begin_ && (!live_ || AsksNobody(*live_))) return std::nullopt;
  json::Value desired = Desired();
  if (!live_) return Write{.create = true, .body = std::move(desired)};
  if (SameConfiguration(*live_, desired) && !open_.IsOver()) return std::nullopt;
  Write write{.create = false, .body = ConfigurationPatch(*live_, desired)};
  if (open_.IsOver()) {
    for (const std::string_view annotation : {kBreakGlassAnnotation, kBreakGlassForAnnotation}) {
      write.body.Make({"metadata", "annotations", annotation}) = {};
    }
  }
  return write;
}

const WebhookPlan::Rule* WebhookPlan::Find(std::string_view quota_api,
                                           const api::GroupResource& resource) const {
  const auto found = rules_.find({std::string(quota_api), resource});
  return found == rules_.end() ? nullptr : &found->second;
}

bool WebhookPlan::Rule::IsStoredIn(const Place& place) const {
  const auto at = places.find(place);
  return at != places.end() && at->second.stored;
}

bool WebhookPlan::Stored(std::string_view quota_api, const api::GroupResource& resource,
                         const Namespaces& where) const {
  const std::set<Place> places = PlacesOf(where);
  if (places.empty()) return true;
  const Rule* const rule = Find(quota_api, resource);
  if (rule == nullptr) return false;
  return rule->IsStoredIn(Place{}) ||
         std::ranges::all_of(places, [&](const Place& place) { return rule->IsStoredIn(place); });
}

bool WebhookPlan::MaySelect(std::string_view quota_api, const api::GroupResource& resource,
                            std::string_view ns) const {
  const Rule* const rule = Find(quota_api, resource);
  if (rule == nullptr) return false;
  return std::ranges::any_of(rule->places, [&](const auto& entry) {
    return entry.first.kind != Place::Kind::kNamed || entry.first.text == ns;
  });
}

std::optional<WebhookPlan::Unasked> WebhookPlan::UnaskedOf(const std::string& quota_api) const {
  if (!known_ || !told_.contains(quota_api)) return std::nullopt;
  if (IsOpen()) return Unasked{.why = WhyOpen()};
  if (IsForeign()) return Unasked{.why = WhyNotOurs()};
  Unasked unasked;
  for (const auto& [key, rule] : rules_) {
    const bool lacks = std::ranges::any_of(rule.places, [](const auto& entry) {
      return !entry.second.unwanted_since && !entry.second.shown_since;
    });
    if (key.first == quota_api && lacks) unasked.resources.insert(key.second);
  }
  return unasked;
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

bool WebhookPlan::HasOtherDaemonsCa() const {
  return live_ && ca_pem_ && DiffersInCaBundleOnly(*live_, Desired()) &&
         std::ranges::all_of(CaBundlesOf(*live_), IsIssuedByDaemon);
}

bool WebhookPlan::IsDesired(const json::Value& stored) const {
  return SameConfiguration(stored, Desired());
}

std::string WebhookPlan::WhyNotTrusted(const std::string& chain_pem) const {
  for (const std::string& bundle : live_ ? CaBundlesOf(*live_) : std::set<std::string>()) {
    if (bundle.empty()) continue;  // the API server uses its own roots, which we do not know
    const auto trusted = http::CheckServer(chain_pem, bundle, {});
    if (!trusted) return "its caBundle does not trust our certificate: " + trusted.error().message;
  }
  return "";
}

std::string WebhookPlan::WhyNotOurs() const {
  if (!known_) return "the stored configuration is not known yet";
  if (const std::string other = OtherInstallation(); !other.empty()) {
    return "it belongs to the installation " + other + ", and this is " +
           options_.configuration.installation +
           ": only one of them can enforce in a cluster. Remove the other one with --uninstall";
  }
  if (IsForeign()) {
    return "an object of this name does not carry the label " + std::string(kManagedByLabel) + "=" +
           std::string(kManagedByUs) + " and is left alone";
  }
  return "";
}

std::string WebhookPlan::Missing() const {
  if (std::string why = WhyNotOurs(); !why.empty()) return why;
  if (IsOpen()) return WhyOpen();
  if (!ca_pem_) return "there is no certificate yet";
  for (const std::string& quota_api : options_.quota_apis) {
    if (!told_.contains(quota_api)) return "quotas of " + quota_api + " are not listed yet";
  }
  std::size_t missing = 0;
  std::string first;
  for (const auto& [key, rule] : rules_) {
    const bool whole = std::ranges::all_of(rule.places, [](const auto& entry) {
      return entry.second.unwanted_since || entry.second.stored;
    });
    if (whole) continue;
    if (missing++ == 0) first = rule.guarded.resource.ToString();
  }
  if (missing == 0) return "";
  return "rules of " + std::to_string(missing) + " resources are not stored yet, one is " + first;
}

}  // namespace webhook
