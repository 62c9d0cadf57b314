#include "controllers/quota/cluster_status.h"

#include <algorithm>
#include <array>
#include <utility>

#include "pkg/api/time.h"
#include "pkg/quota/cluster/cluster_status.h"
#include "pkg/quota/cluster/guarantee.h"
#include "pkg/quota/cluster/tree_place.h"

namespace controllers {
namespace {

// At most one write in ten seconds a quota, and about twenty a second of all children of one.
constexpr std::chrono::seconds kSeldom{10};
constexpr std::chrono::milliseconds kEachChild{50};

constexpr std::array<std::string_view, 2> kCanWait = {"available", "largest"};

const json::Value* FindCondition(const json::Value* conditions, std::string_view type) {
  if (conditions == nullptr || !conditions->IsArray()) return nullptr;
  for (const json::Value& condition : *conditions->AsArray()) {
    if (condition.StringAt({"type"}) == type) return &condition;
  }
  return nullptr;
}

json::Value ToJson(const QuotaCondition& condition, const json::Value* stored,
                   const std::string& now) {
  const std::string_view status = condition.holds ? "True" : "False";
  const bool same = stored != nullptr && stored->StringAt({"status"}) == status;
  const std::string_view since = same ? stored->StringAt({"lastTransitionTime"}) : "";
  return json::Object{{"type", condition.type},
                      {"status", status},
                      {"reason", condition.reason},
                      {"message", condition.message},
                      {"lastTransitionTime", since.empty() ? now : std::string(since)}};
}

// Amounts change with each object; names do not.
QuotaCondition OverLimit(const quota::QuotaStatus& status) {
  std::string names;
  for (const auto& [name, limit] : status.hard) {
    const quota::Quantity* used = status.used.Find(name);
    if (used != nullptr && *used > limit) names += (names.empty() ? "" : ", ") + name;
  }
  if (names.empty())
    return {"OverLimit", false, "WithinLimits", "no limit lies below what is used"};
  return {"OverLimit", true, "LimitBelowUsage",
          "more is used than the limit allows, nothing more can be created: " + names};
}

json::Object ToJson(const quota::ResourceList& amounts) {
  json::Object object;
  for (const auto& [name, amount] : amounts) object.Set(name, amount.ToString());
  return object;
}

}  // namespace

json::Array WithConditions(const json::Value* stored, const std::vector<QuotaCondition>& wanted,
                           const std::string& now) {
  json::Array conditions;
  if (stored != nullptr && stored->IsArray()) conditions = *stored->AsArray();
  for (const QuotaCondition& condition : wanted) {
    json::Value next = ToJson(condition, FindCondition(stored, condition.type), now);
    const auto same = std::ranges::find_if(conditions, [&](const json::Value& one) {
      return one.StringAt({"type"}) == condition.type;
    });
    if (same == conditions.end()) {
      conditions.push_back(std::move(next));
    } else {
      *same = std::move(next);
    }
  }
  return conditions;
}

bool ClusterStatus::IsUrgent(const json::Object& stored, const json::Object& desired) {
  json::Object difference = quota::FurtherDifference(stored, desired);
  for (const std::string_view name : kCanWait) difference.Erase(name);
  return !difference.empty();
}

base::Duration ClusterStatus::PeriodOf(const quota::Quota& quota) const {
  const auto* place = reach_.tree().Place(quota.key.name);
  const bool beside = place != nullptr && place->up != nullptr;
  return kSeldom + (beside ? place->up->below.size() : 0) * kEachChild;
}

std::vector<api::ObjectKey> ClusterStatus::ChildrenOf(const quota::Quota& quota) const {
  std::vector<api::ObjectKey> children;
  const auto* place = reach_.tree().Place(quota.key.name);
  if (place == nullptr) return children;
  for (const auto* child : place->below) children.push_back({"", child->name});
  return children;
}

json::Object ClusterStatus::Of(const quota::Quota& quota, const quota::QuotaStatus& desired,
                               const std::vector<std::string>& unknown, base::WallTime now) const {
  json::Object members;
  const QuotaCondition stale = Stale(quota, unknown);
  const json::Value* stored = quota.further_status.Find("conditions");
  members.Set("observedGeneration", quota.cluster ? quota.cluster->generation : 0);
  members.Set("conditions", WithConditions(stored, {Ready(quota, stale), stale, OverLimit(desired)},
                                           api::FormatTime(now)));
  const auto* place = reach_.tree().Place(quota.key.name);
  if (!reach_.synced() || place == nullptr) return members;
  members.Set("available", Available(quota, desired));
  if (const json::Array* largest = largest_.Find(quota.key)) members.Set("largest", *largest);
  members.Set("namespaces",
              static_cast<std::int64_t>(reach_.tree().CountNamespaces(quota.key.name)));
  members.Set("children", static_cast<std::int64_t>(place->below.size()));
  return members;
}

// The quotas above are as they are stored.
json::Object ClusterStatus::Available(const quota::Quota& quota,
                                      const quota::QuotaStatus& desired) const {
  quota::Quota own = quota;
  own.status = desired;
  const auto find = [&](std::string_view name) -> const quota::Quota* {
    return name == own.key.name ? &own : store_.Find({"", std::string(name)});
  };
  const quota::QuotaTree::Reach way = reach_.tree().WayUp(own.key.name);
  const auto places = quota::PlacesOf(reach_.tree(), way, [&](std::string_view name) {
    const quota::Quota* one = find(name);
    return one != nullptr ? quota::Promised(*one, one->status.used) : quota::ResourceList();
  });
  std::vector<quota::Standing> standings;
  for (std::size_t i = 0; i < way.size(); ++i) {
    const quota::Quota* one = find(way[i].name);
    if (one == nullptr) return {};
    standings.push_back({.quota = one, .used = one->status.used, .tree = places[i]});
  }
  if (standings.empty()) return {};
  return ToJson(quota::Available(standings, 0));
}

// What people were told; after a restart, and for a new leader, what was stored holds until then.
QuotaCondition ClusterStatus::Stale(const quota::Quota& quota,
                                    const std::vector<std::string>& unknown) const {
  const auto told = reporter_.conditions().ToldOf(quota);
  if (!told.empty()) return {"Stale", true, told.front().reason, told.front().message};
  const json::Value* stored = quota.further_status.Find("conditions");
  const json::Value* before = FindCondition(stored, "Stale");
  if (!unknown.empty() && before != nullptr && before->StringAt({"status"}) == "True") {
    return {"Stale", true, std::string(before->StringAt({"reason"})),
            std::string(before->StringAt({"message"}))};
  }
  return {"Stale", false, "Current", "what is used is counted"};
}

QuotaCondition ClusterStatus::Ready(const quota::Quota& quota, const QuotaCondition& stale) const {
  if (const auto flaw = reach_.tree().FlawOf(quota.key.name)) {
    return {"Ready", false, flaw->reason, flaw->message};
  }
  if (stale.holds) return {"Ready", false, stale.reason, stale.message};
  return {"Ready", true, "Counted", "everything that is limited is counted"};
}

}  // namespace controllers
