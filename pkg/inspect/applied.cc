#include "pkg/inspect/applied.h"

#include <map>
#include <set>
#include <utility>

#include "pkg/quota/cluster/cluster_quota.h"
#include "pkg/quota/quantity_field.h"

namespace inspect {
namespace {

using quota::Quota;
using quota::ResourceList;

constexpr const char* kBelow = "guaranteedBelow";

// An AppliedClusterQuota does not tell whether its quota selects the namespace itself.
std::vector<Quota> WithSelectors(std::vector<Quota> quotas) {
  const json::Value everything(json::Object{});
  const auto all = api::LabelSelector::FromJson(everything);
  std::map<std::string, std::string> parents;
  std::set<std::string> above;  // has a quota below it
  for (const Quota& quota : quotas) {
    parents[quota.key.name] = quota.cluster->parent;
    above.insert(quota.cluster->parent);
  }
  // The quotas to which a quota without children leads. The others are in a cycle.
  std::set<std::string> reached;
  for (const auto& [name, parent] : parents) {
    if (above.contains(name)) continue;
    auto at = parents.find(name);
    while (at != parents.end() && reached.insert(at->first).second) at = parents.find(at->second);
  }
  for (Quota& quota : quotas) {
    const std::string& name = quota.key.name;
    if (all && (!above.contains(name) || !reached.contains(name))) quota.cluster->selector = *all;
  }
  return quotas;
}

// What a quota keeps free for the quotas below it.
ResourceList KeptFreeBy(const Quota& quota) {
  const auto kept = quota::ResourceListFrom(quota.further_status.Find(kBelow), kBelow);
  return kept ? *kept : ResourceList();
}

}  // namespace

base::Result<Quota> QuotaOfApplied(const json::Value& object) {
  json::Value quota = object;
  for (const char* member : {"hard", "parent", "enforcement", "guaranteed", "scopeSelector"}) {
    const json::Value* value = object.At({"status", member});
    if (value != nullptr) quota.Make({"spec", member}) = *value;
  }
  auto parsed = quota::ParseQuota(quota, quota::ClusterQuotaApi().form);
  if (!parsed) return parsed;
  parsed->key.ns.clear();
  const json::Value* below = object.At({"status", kBelow});
  if (below != nullptr) parsed->further_status.Set(kBelow, *below);
  return parsed;
}

AppliedForest::AppliedForest(std::vector<Quota> quotas)
    : forest_(WithSelectors(std::move(quotas))) {
  const Reached reached = forest_.ReachOf(nullptr);
  for (std::size_t i = 0; i < reached.quotas.size(); ++i) {
    const ResourceList all = KeptFreeBy(reached.quotas[i]);
    promised_to_others_.push_back(quota::Excess(all, reached.places[i].promised_below));
  }
}

Reached AppliedForest::Reach() const {
  Reached reached = forest_.ReachOf(nullptr);
  for (std::size_t i = 0; i < reached.places.size(); ++i) {
    reached.places[i].promised_below.Add(promised_to_others_[i]);
  }
  return reached;
}

}  // namespace inspect
