#include "pkg/inspect/forest.h"

#include <algorithm>
#include <utility>

#include "pkg/quota/cluster/tree_place.h"
#include "pkg/quota/cluster_spec.h"
#include "pkg/quota/guarantee.h"
#include "pkg/quota/quantity_field.h"

namespace inspect {
namespace {

using quota::ClusterSpec;
using quota::Quota;
using quota::ResourceList;

ClusterSpec::Enforcement EnforcementOf(const Quota& quota) {
  return quota.cluster ? quota.cluster->enforcement : ClusterSpec::Enforcement::kDeny;
}

}  // namespace

Forest::Forest(std::vector<Quota> quotas) {
  for (Quota& quota : quotas) {
    tree_.PutQuota(quota);
    tree_.SetPromised(quota.key.name, quota::Promised(quota, quota.status.used));
    std::string name = quota.key.name;
    quotas_.insert_or_assign(std::move(name), std::move(quota));
  }
}

const Quota* Forest::Find(std::string_view name) const {
  const auto found = quotas_.find(name);
  return found == quotas_.end() ? nullptr : &found->second;
}

const quota::Lineage::Member* Forest::Place(std::string_view name) const {
  return tree_.Place(name);
}

std::vector<std::string> Forest::Roots() const {
  std::vector<std::string> roots;
  for (const auto& [name, quota] : quotas_) {
    const auto* place = tree_.Place(name);
    if (place != nullptr && place->up == nullptr) roots.push_back(name);
  }
  return roots;
}

std::vector<std::string> Forest::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, quota] : quotas_) names.push_back(name);
  return names;
}

Reached Forest::Collect(const quota::QuotaTree::Reach& reach) const {
  Reached reached;
  reached.places = quota::PlacesOf(tree_, reach);
  for (const auto& reaching : reach) reached.quotas.push_back(quotas_.find(reaching.name)->second);
  return reached;
}

Reached Forest::ReachOf(const json::Value* labels) const {
  return Collect(tree_.QuotasFor(quota::LabelText(labels)));
}

void Forest::AddNamespace(std::string_view ns, const json::Value* labels) {
  tree_.PutNamespace(ns, quota::LabelText(labels));
}

std::set<std::string> Forest::NamespacesOf(std::string_view name) const {
  std::set<std::string> namespaces;
  tree_.VisitNamespaces(name, [&](std::string_view ns) { namespaces.emplace(ns); });
  return namespaces;
}

ResourceList Forest::AvailableOf(std::string_view name) const {
  const Quota* quota = Find(name);
  if (quota == nullptr) return {};
  const Reached way = Collect(tree_.WayUp(name));
  std::vector<quota::Standing> standings;
  for (std::size_t i = 0; i < way.quotas.size(); ++i) {
    const Quota& one = way.quotas[i];
    standings.push_back({.quota = &one, .used = one.status.used, .tree = way.places[i]});
  }
  ResourceList available = quota::Available(standings, 0);
  const auto said = quota::ResourceListFrom(quota->further_status.Find("available"), "available");
  if (!said) return available;
  for (const auto& [resource, amount] : *said) {
    if (available.Find(resource) != nullptr) available.Set(resource, amount);
  }
  return available;
}

void Forest::Charge(std::string_view name, const ResourceList& amounts) {
  const auto found = quotas_.find(name);
  if (found == quotas_.end()) return;
  ResourceList& used = found->second.status.used;
  for (const auto& [resource, amount] : amounts) {
    const quota::Quantity* before = used.Find(resource);
    if (before != nullptr) used.Set(resource, before->Add(amount));
  }
  tree_.SetPromised(name, quota::Promised(found->second, used));
}

std::string_view ModeText(const Quota& quota) { return quota::ToString(EnforcementOf(quota)); }

bool IsTried(const Quota& quota) { return EnforcementOf(quota) != ClusterSpec::Enforcement::kDeny; }

std::string TitleOf(const Quota& quota) {
  return quota.cluster ? "clusterquota/" + quota.key.name : quota.key.name;
}

bool LagsBehind(const Quota& quota) {
  if (!quota.cluster || !quota.has_status_hard) return false;
  const json::Value* observed = quota.further_status.Find("observedGeneration");
  const auto generation = observed != nullptr ? observed->AsInt64() : std::nullopt;
  // The definition's default is -1: no daemon has written one yet.
  if (generation && *generation >= 0 && *generation < quota.cluster->generation) return true;
  // A name that is not in force yet is missing, and the condition Ready says why.
  return std::ranges::any_of(quota.status.hard, [&](const auto& limit) {
    const quota::Quantity* wanted = quota.hard.Find(limit.first);
    return wanted == nullptr || *wanted != limit.second;
  });
}

std::string WhyUncertain(const Quota& quota) {
  if (LagsBehind(quota)) return "its status is of an older spec";
  const json::Value* conditions = quota.further_status.Find("conditions");
  if (conditions == nullptr || !conditions->IsArray()) return "";
  for (const json::Value& condition : *conditions->AsArray()) {
    const bool stale =
        condition.StringAt({"type"}) == "Stale" && condition.StringAt({"status"}) == "True";
    if (stale) return std::string(condition.StringAt({"message"}));
  }
  return "";
}

}  // namespace inspect
