#include "tests/simulation/tree.h"

#include <algorithm>

namespace simulation {
namespace {

const StoredQuota* ParentOf(const StoredQuota& quota, const Quotas& quotas) {
  if (!quota.tree || quota.tree->parent.empty()) return nullptr;
  const auto found = quotas.find({"", quota.tree->parent});
  return found == quotas.end() ? nullptr : &found->second;
}

bool Selects(const StoredQuota& quota, const StoredNamespace& ns) {
  if (!quota.tree || !quota.tree->selector) return false;
  return std::ranges::all_of(*quota.tree->selector, [&](const auto& wanted) {
    const auto label = ns.labels.find(wanted.first);
    return label != ns.labels.end() && label->second == wanted.second;
  });
}

}  // namespace

const StoredQuota* Above(const StoredQuota& quota, const Quotas& quotas) {
  const StoredQuota* const parent = ParentOf(quota, quotas);
  const StoredQuota* above = parent;
  for (std::size_t i = 0; i < quotas.size() && above != nullptr; ++i) {
    if (above->name == quota.name) return nullptr;
    above = ParentOf(*above, quotas);
  }
  return parent;
}

std::vector<const StoredQuota*> Below(const StoredQuota& quota, const Quotas& quotas) {
  std::vector<const StoredQuota*> below;
  for (const auto& [key, other] : quotas) {
    const StoredQuota* const above = Above(other, quotas);
    if (above != nullptr && above->name == quota.name) below.push_back(&other);
  }
  return below;
}

std::map<std::pair<std::string, std::string>, std::set<std::string>> ReachesOf(
    const Quotas& quotas, const Namespaces& namespaces) {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> reaches;
  for (const auto& [key, quota] : quotas) {
    reaches[key];
    for (const auto& [name, ns] : namespaces) {
      if (!Selects(quota, ns)) continue;
      for (const StoredQuota* one = &quota; one != nullptr; one = Above(*one, quotas)) {
        reaches[{one->ns, one->name}].insert(name);
      }
    }
  }
  return reaches;
}

Amounts GuaranteedTo(const StoredQuota& quota) {
  Amounts guaranteed;
  if (!quota.tree || !quota.status_hard || !quota.status_used) return guaranteed;
  for (const auto& [name, amount] : quota.tree->guaranteed) {
    const Amounts& limits = quota.unread.contains(name) ? quota.said : *quota.status_hard;
    const bool counted = limits.contains(name) && quota.status_used->contains(name);
    if (counted) guaranteed[name] = std::min(amount, limits.at(name));
  }
  return guaranteed;
}

}  // namespace simulation
