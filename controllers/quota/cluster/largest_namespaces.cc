#include "controllers/quota/cluster/largest_namespaces.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace controllers {
namespace {

constexpr std::chrono::seconds kAtFirst{1};
constexpr std::chrono::seconds kAgain{30};
// How long the first list of a kind, or of the namespaces, may take.
constexpr std::chrono::minutes kUntilListed{5};
// Each step sums so many namespaces.
constexpr std::size_t kSumsAStep = 32;

struct UsingNamespace {
  std::string name;
  quota::ResourceList used;
};

// Returns the name with the highest ratio of usage to limit; "" if nothing is used.
std::string ScarcestOf(const quota::QuotaStatus& status) {
  std::string scarcest;
  double most = 0;
  for (const auto& [name, limit] : status.hard) {
    const auto used = static_cast<double>(status.used.Get(name).nanos());
    const double share = limit.Sign() > 0 ? used / static_cast<double>(limit.nanos()) : used;
    if (used <= 0 || share <= most) continue;
    most = share;
    scarcest = name;
  }
  return scarcest;
}

// Inserts `next` in order, and keeps only the largest ones.
void Keep(std::vector<UsingNamespace>& largest, UsingNamespace next, const std::string& name) {
  const auto larger = [&](const UsingNamespace& a, const UsingNamespace& b) {
    const auto order = a.used.Get(name) <=> b.used.Get(name);
    return order != 0 ? order > 0 : a.name < b.name;
  };
  if (next.used.Get(name).Sign() <= 0) return;
  largest.insert(std::ranges::upper_bound(largest, next, larger), std::move(next));
  if (largest.size() > LargestNamespaces::kMost) largest.pop_back();
}

json::Array ToArray(const std::vector<UsingNamespace>& largest) {
  json::Array array;
  for (const UsingNamespace& one : largest) {
    json::Object used;
    for (const auto& [name, amount] : one.used) {
      if (!amount.IsZero()) used.Set(name, amount.ToString());
    }
    array.push_back(json::Object{{"namespace", one.name}, {"used", std::move(used)}});
  }
  return array;
}

}  // namespace

void LargestNamespaces::OnUsed(const api::ObjectKey& key) {
  due_.AddAfter(key, found_.contains(key) ? kAgain : kAtFirst);
}

const json::Array* LargestNamespaces::Find(const api::ObjectKey& key) const {
  const auto found = found_.find(key);
  return found == found_.end() ? nullptr : &found->second;
}

base::Task<void> LargestNamespaces::Run() {
  co_await base::DeferCancellation();
  while (const std::optional<api::ObjectKey> key = co_await due_.Pop()) {
    co_await LookAt(*key);
    due_.Done(*key);
  }
}

// Usage that is not known is not zero, and neither is usage that the status does not have yet. Once
// it is known the status may stay as it is, and then nothing calls OnUsed().
bool LargestNamespaces::CanCompare(const quota::Quota& quota, const std::string& scarcest) {
  const QuotaCount count = usage_.Count(quota, kUntilListed);
  const auto is_used = [](const auto& amount) { return amount.second.Sign() > 0; };
  const bool known = scarcest.empty()
                         ? !count.pending && std::ranges::none_of(count.observed.used, is_used)
                         : count.observed.used.Find(scarcest) != nullptr;
  if (reach_.synced() && known) return true;
  due_.AddAfter(quota.key, count.pending ? kAtFirst : kAgain);
  return false;
}

base::Task<void> LargestNamespaces::LookAt(api::ObjectKey key) {
  const quota::Quota* quota = store_.Find(key);
  if (quota == nullptr) co_return;
  const std::string scarcest = ScarcestOf(quota->status);
  if (!CanCompare(*quota, scarcest)) co_return;
  std::vector<std::string> namespaces;
  reach_.tree().VisitNamespaces(key.name,
                                [&](std::string_view ns) { namespaces.emplace_back(ns); });
  std::vector<UsingNamespace> largest;
  quota::Quota in_one = *quota;
  for (std::size_t i = 0; i < namespaces.size() && !scarcest.empty(); ++i) {
    in_one.key.ns = namespaces[i];  // counts the quota in this namespace only
    Keep(largest, {namespaces[i], usage_.Count(in_one, {}).observed.used}, scarcest);
    if (i % kSumsAStep != kSumsAStep - 1) continue;
    co_await base::NextTurn();
    if (co_await base::Stopping()) co_return;
  }
  // During the steps above the quota may have been deleted, or a list may have begun.
  quota = store_.Find(key);
  if (quota == nullptr || !CanCompare(*quota, scarcest)) co_return;
  json::Array array = ToArray(largest);
  const auto known = found_.find(key);
  if (known != found_.end() && known->second == array) co_return;
  found_[key] = std::move(array);
  queue_.Add(key);
}

}  // namespace controllers
