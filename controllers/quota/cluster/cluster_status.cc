#include "controllers/quota/cluster/cluster_status.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "pkg/api/time.h"
#include "pkg/base/text.h"
#include "pkg/quota/cluster/tree_place.h"
#include "pkg/quota/cluster_status.h"
#include "pkg/quota/guarantee.h"
#include "pkg/quota/quantity_field.h"

namespace controllers {
namespace {

// Limits writes to one in ten seconds for each quota, and to about twenty a second for all children
// of one quota.
constexpr std::chrono::seconds kSeldom{10};
constexpr std::chrono::milliseconds kEachChild{50};

constexpr std::string_view kExceedsParent = "GuaranteedExceedsParent";

// A message names at most so many namespaces.
constexpr std::size_t kMostNamed = 10;

// The message omits amounts: they change with each object, names do not.
QuotaCondition OverLimit(const quota::Quota& quota, const quota::QuotaStatus& status) {
  std::string names;
  for (const auto& [name, limit] : status.hard) {
    const quota::Quantity* used = status.used.Find(name);
    if (used != nullptr && *used > limit) names += (names.empty() ? "" : ", ") + name;
  }
  if (names.empty())
    return {"OverLimit", false, "WithinLimits", "no limit lies below what is used"};
  return {"OverLimit", true, "LimitBelowUsage",
          "more is used than the limit allows, " + std::string(WhenFull(quota)) + ": " + names};
}

QuotaCondition ExemptOf(const std::vector<std::string>& namespaces) {
  if (namespaces.empty()) {
    return {"Exempt", false, "NoneSelected", "none of its namespaces is exempt from admission"};
  }
  const std::size_t named = std::min(namespaces.size(), kMostNamed);
  std::string names = base::Join(std::span(namespaces).first(named), ", ");
  if (namespaces.size() > kMostNamed) names += ", …";
  return {"Exempt", true, "SelectsExemptNamespaces",
          "what is in " + std::to_string(namespaces.size()) +
              " of its namespaces counts, and nothing is refused there: " + names};
}

// Used is also absent for a name that admission does not guard yet. `unguarded`: of a quota that
// was enforced, in further namespaces.
std::string NotCountedYet(const quota::Quota& quota, const std::vector<std::string>& unguarded) {
  const std::set<std::string_view> waiting(unguarded.begin(), unguarded.end());
  std::string names;
  for (const auto& [name, limit] : quota.hard) {
    const bool counted = quota.status.used.Find(name) != nullptr;
    if (counted && !waiting.contains(name)) continue;
    names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

}  // namespace

bool ClusterStatus::IsUrgent(const quota::Quota& quota, json::Object desired) {
  // Each write of used is one of the summary. Without one it stays as it is.
  desired.Set("summary", quota::SummaryOf(quota.status));
  const json::Object& stored = quota.further_status;
  json::Object difference = quota::FurtherDifference(stored, desired);
  difference.Erase("available");
  difference.Erase("largest");
  const auto* conditions = desired.Find("conditions");
  if (SayTheSame(stored.Find("conditions"), conditions)) difference.Erase("conditions");
  return !difference.empty();
}

base::Duration ClusterStatus::PeriodOf(const quota::Quota& quota) const {
  const auto* place = reach_.tree().Place(quota.key.name);
  const bool beside = place != nullptr && place->up != nullptr;
  return kSeldom + (beside ? place->up->below.size() : 0) * kEachChild;
}

json::Object ClusterStatus::Of(const quota::Quota& quota, const quota::QuotaStatus& desired,
                               const std::vector<std::string>& unknown,
                               const std::vector<std::string>& unguarded, Times times,
                               std::optional<base::TimePoint>& missing_since) const {
  quota::Quota own = quota;
  own.status = desired;
  const std::vector<quota::Standing> way = WayUp(own);
  const auto* place = reach_.tree().Place(quota.key.name);
  const bool placed = reach_.synced() && place != nullptr && !way.empty();
  const auto missing = placed ? quota::Missing(way, 0) : quota::ResourceList();
  if (missing.empty()) missing_since.reset();
  if (!missing.empty() && !missing_since) missing_since = times.now;
  const bool lasts = missing_since && times.now - *missing_since >= kLasts;
  const QuotaCondition stale = Stale(quota, unknown);
  const QuotaCondition ready = Ready(own, stale, missing, lasts, unguarded);
  std::vector<QuotaCondition> wanted = {ready, stale, OverLimit(quota, desired)};
  if (reach_.synced()) wanted.push_back(ExemptOf(ExemptIn(quota)));
  std::ranges::move(ProgressOf(ready), std::back_inserter(wanted));
  const std::int64_t generation = quota.cluster ? quota.cluster->generation : 0;
  json::Object members;
  members.Set("observedGeneration", generation);
  members.Set("summary", quota::SummaryOf(desired));
  members.Set("conditions", WithConditions(quota.further_status.Find("conditions"), wanted,
                                           generation, api::FormatTime(times.wall)));
  if (!placed) return members;
  members.Set("available", quota::ToJson(quota::Available(way, 0)));
  if (const json::Array* largest = largest_.Find(quota.key)) members.Set("largest", *largest);
  members.Set("namespaces",
              static_cast<std::int64_t>(reach_.tree().CountNamespaces(quota.key.name)));
  members.Set("children", static_cast<std::int64_t>(place->below.size()));
  return members;
}

// Returns the quota and all quotas above it, as stored. Empty if one of them is unknown.
std::vector<quota::Standing> ClusterStatus::WayUp(const quota::Quota& own) const {
  const quota::QuotaTree::Reach way = reach_.tree().WayUp(own.key.name);
  std::vector<quota::TreePlace> places = quota::PlacesOf(reach_.tree(), way);
  std::vector<quota::Standing> standings;
  for (std::size_t i = 0; i < way.size(); ++i) {
    const quota::Quota* one = i == 0 ? &own : store_.Find({"", way[i].name});
    if (one == nullptr) return {};
    standings.push_back({.quota = one, .used = one->status.used, .tree = std::move(places[i])});
  }
  const bool has_parent = !standings.empty() && standings.front().tree.parent;
  if (has_parent) quota::Promise(standings, 0, quota::Promised(own, own.status.used));
  return standings;
}

// Looks up each exempt namespace, or each of the quota: there may be ten thousand of both.
std::vector<std::string> ClusterStatus::ExemptIn(const quota::Quota& quota) const {
  const std::set<std::string, std::less<>>& exempt = *options_.exempt;
  std::vector<std::string> namespaces;
  if (reach_.tree().CountNamespaces(quota.key.name) < exempt.size()) {
    reach_.tree().VisitNamespaces(quota.key.name, [&](std::string_view ns) {
      if (exempt.contains(ns)) namespaces.emplace_back(ns);
    });
    std::ranges::sort(namespaces);
    return namespaces;
  }
  for (const std::string& ns : exempt) {
    const auto& reach = reach_.tree().QuotasOf(ns);
    const auto found = std::ranges::find(reach, quota.key.name, &quota::QuotaTree::Reaching::name);
    if (found != reach.end()) namespaces.push_back(ns);
  }
  return namespaces;
}

// Repeats what was reported by an event. A new process or leader has reported nothing yet: until
// then the stored condition holds.
QuotaCondition ClusterStatus::Stale(const quota::Quota& quota,
                                    const std::vector<std::string>& unknown) const {
  const auto told = reporter_.conditions().ToldOf(quota);
  if (!told.empty()) return {"Stale", true, told.front().condition, told.front().message};
  const json::Value* stored = quota.further_status.Find("conditions");
  const json::Value* before = FindCondition(stored, "Stale");
  if (!unknown.empty() && before != nullptr && before->StringAt({"status"}) == "True") {
    return {"Stale", true, std::string(before->StringAt({"reason"})),
            std::string(before->StringAt({"message"}))};
  }
  return {"Stale", false, "Current", "what is used is counted"};
}

// Statuses of several quotas are written one after the other. So a guarantee may look incomplete
// for a moment, and is reported only if this lasts or was reported before.
QuotaCondition ClusterStatus::Ready(const quota::Quota& quota, const QuotaCondition& stale,
                                    const quota::ResourceList& missing, bool lasts,
                                    const std::vector<std::string>& unguarded) const {
  const json::Value* before = FindCondition(quota.further_status.Find("conditions"), "Ready");
  const std::string_view reason = before != nullptr ? before->StringAt({"reason"}) : "";
  if (const EnforcementWatch* const enforcement = reporter_.enforcement()) {
    const std::string_view stored =
        reason == kNotEnforced ? before->StringAt({"message"}) : std::string_view();
    std::string why = enforcement->WhyNot(quota).value_or(std::string(stored));
    if (!why.empty()) return {"Ready", false, std::string(kNotEnforced), std::move(why)};
  }
  if (const auto flaw = reach_.tree().FlawOf(quota.key.name)) {
    return {"Ready", false, flaw->reason, flaw->message};
  }
  if (!missing.empty() && (lasts || reason == kExceedsParent)) {
    return {"Ready", false, std::string(kExceedsParent),
            "others have taken in " + quota.cluster->parent +
                " what is guaranteed here, missing: " + missing.ToString()};
  }
  if (stale.holds) return {"Ready", false, stale.reason, stale.message};
  // A new process does not know for a moment what is guarded, and a new quota below this one does
  // not make this one new. So only a quota whose spec changed waits for the rules.
  const json::Value* observed = quota.further_status.Find("observedGeneration");
  const bool waits = before == nullptr || reason == kNotCountedYet || observed == nullptr ||
                     !quota.cluster || observed->AsInt64() != quota.cluster->generation;
  const std::string uncounted =
      NotCountedYet(quota, waits ? unguarded : std::vector<std::string>());
  if (!uncounted.empty()) {
    return {"Ready", false, std::string(kNotCountedYet),
            "not yet counted, or not yet enforced: " + uncounted};
  }
  return Counted(quota);
}

QuotaCondition ClusterStatus::Counted(const quota::Quota& quota) const {
  if (quota.hard.empty()) {
    return {"Ready", true, "LimitsNothing", "spec.hard names nothing, so nothing is limited"};
  }
  if (reach_.synced() && reach_.tree().CountNamespaces(quota.key.name) == 0) {
    return {"Ready", true, "SelectsNothing",
            "neither this quota nor one below it selects a namespace, so nothing is limited yet"};
  }
  if (!options_.guarded) {
    return {"Ready", true, "Counted",
            "everything that is limited is counted; this daemon enforces no ClusterQuotas"};
  }
  return {"Ready", true, "Counted", "everything that is limited is counted"};
}

}  // namespace controllers
