#include "cmd/kubectl-quota/cluster_limits.h"

#include <set>
#include <utility>

#include "cmd/kubectl-quota/applied_quotas.h"
#include "cmd/kubectl-quota/cluster_quotas.h"
#include "cmd/kubectl-quota/counting.h"
#include "cmd/kubectl-quota/policies.h"
#include "cmd/kubectl-quota/usage_names.h"
#include "cmd/kubectl-quota/words.h"
#include "pkg/api/object_meta.h"
#include "pkg/inspect/applied.h"
#include "pkg/quota/cluster/cluster_quota.h"

namespace kubectl_quota {

base::Task<void> ClusterLimits::Read(std::string selector) {
  listed_ = std::make_unique<inspect::Forest>(std::vector<quota::Quota>());
  if (!selector.empty()) co_return;
  auto forest = co_await ReadForest(cluster_);
  if (!forest && forest.error().Is(base::ErrorCode::kForbidden)) {
    listed_ = nullptr;
    unlisted_ = ErrorText(forest.error());
  } else if (!forest) {
    WarnLeftOut(cluster_, forest.error());
  } else if (*forest != nullptr) {
    listed_ = std::move(*forest);
  }
}

base::Task<base::Result<std::optional<quota::ResourceList>>> ClusterLimits::UsedOf(
    std::string name) {
  const quota::Quota quota = *listed_->Find(name);
  std::vector<std::string> names;
  for (const auto& [resource, limit] : quota.hard) names.push_back(resource);
  auto namespaces = co_await NamespacesOf(cluster_, *listed_, name);
  if (namespaces) {
    const quota::QuotaApi api = co_await Defined(cluster_, quota::ClusterQuotaApi());
    co_return co_await CountUsed(cluster_, api, quota, std::move(names), std::move(*namespaces));
  }
  if (!namespaces.error().Is(base::ErrorCode::kForbidden)) co_return namespaces.error();
  cluster_.terminal().Warn("cluster quota " + name + ": what its namespaces use is not counted: " +
                           ErrorText(namespaces.error()));
  co_return std::optional<quota::ResourceList>();
}

base::Task<base::Result<void>> ClusterLimits::Apply(std::vector<json::Value> manifests) {
  if (manifests.empty()) co_return base::Result<void>();
  if (listed_ == nullptr) {
    cluster_.terminal().Doubt(
        "ClusterQuotas in the files are left out: you may not list those that there are");
    co_return base::Result<void>();
  }
  std::map<std::string, quota::Quota> quotas;
  for (quota::Quota& quota : Listed()) quotas[quota.key.name] = quota;
  std::set<std::string> applied;
  for (const json::Value& manifest : manifests) {
    const std::string name(api::Name(manifest));
    json::Value stored;
    if (quotas.contains(name)) {
      auto read = co_await cluster_.Get(quota::ClusterQuotaApi().resource.Path("", name));
      if (!read) co_return read.error();
      stored = std::move(*read);
    }
    auto quota = ClusterQuotaOf(manifest, stored);
    if (!quota) co_return quota.error().Wrap("clusterquota/" + name);
    quota->status.used = quotas[name].status.used;  // if it cannot be counted
    quotas[name] = std::move(*quota);
    applied.insert(name);
  }
  const auto plant = [&] {
    std::vector<quota::Quota> all;
    all.reserve(quotas.size());
    for (const auto& [name, quota] : quotas) all.push_back(quota);
    listed_ = std::make_unique<inspect::Forest>(std::move(all));
  };
  plant();
  for (const std::string& name : applied) {
    auto used = co_await UsedOf(name);
    if (!used) co_return used.error();
    if (*used) quotas[name].status.used = std::move(**used);
  }
  plant();
  co_return base::Result<void>();
}

base::Task<inspect::Reached> ClusterLimits::In(std::string ns, json::Value manifest) {
  const bool labelled = !manifest.IsNull();
  if (listed_ == nullptr) co_return co_await AppliedIn(ns, labelled);
  auto reached = co_await ReachOf(cluster_, *listed_, ns, std::move(manifest));
  if (!reached && reached.error().Is(base::ErrorCode::kForbidden)) {
    auto applied = co_await AppliedIn(ns, labelled);
    if (applied.quotas.empty()) WarnLeftOut(cluster_, reached.error());
    co_return applied;
  }
  if (!reached) {
    WarnLeftOut(cluster_, reached.error());
    co_return inspect::Reached();
  }
  for (const quota::Quota& quota : reached->quotas) {
    const std::string why = inspect::WhyUncertain(quota);
    if (!why.empty()) cluster_.terminal().Warn("cluster quota " + quota.key.name + ": " + why);
  }
  co_return std::move(*reached);
}

base::Task<inspect::Reached> ClusterLimits::AppliedIn(std::string ns, bool labelled) {
  if (labelled) {
    cluster_.terminal().Doubt("the labels of namespace " + ns +
                              " in the files are left out: you may not read what they select");
  }
  auto quotas = co_await AppliedQuotas(cluster_, ns);
  // Without any, either no quota limits the namespace, or no daemon writes them.
  if (quotas.empty() && listed_ == nullptr) {
    cluster_.terminal().Doubt("whether a ClusterQuota limits namespace " + ns +
                              " cannot be seen: " + unlisted_);
  }
  inspect::AppliedForest forest(std::move(quotas));
  for (const auto& [name, amounts] : charged_) forest.Charge(name, amounts);
  co_return forest.Reach();
}

std::vector<quota::Quota> ClusterLimits::Listed() const {
  std::vector<quota::Quota> quotas;
  if (listed_ == nullptr) return quotas;
  for (const std::string& name : listed_->Names()) quotas.push_back(*listed_->Find(name));
  return quotas;
}

void ClusterLimits::Charge(const std::string& name, const quota::ResourceList& amounts) {
  if (listed_ != nullptr) listed_->Charge(name, amounts);
  charged_[name].Add(amounts);
}

base::Task<std::vector<quota::Quota>> ClusterQuotasIn(Cluster& cluster, std::string ns,
                                                      std::string selector) {
  ClusterLimits limits(cluster);
  co_await limits.Read(std::move(selector));
  if (ns.empty()) co_return limits.Listed();
  inspect::Reached reached = co_await limits.In(std::move(ns));
  co_return std::move(reached.quotas);
}

}  // namespace kubectl_quota
