#include "cmd/kubectl-quota/cluster_limits.h"

#include <utility>

#include "cmd/kubectl-quota/applied_quotas.h"
#include "cmd/kubectl-quota/cluster_quotas.h"
#include "pkg/inspect/applied.h"

namespace kubectl_quota {

base::Task<void> ClusterLimits::Read(std::string selector) {
  listed_ = std::make_unique<inspect::Forest>(std::vector<quota::Quota>());
  if (!selector.empty()) co_return;
  auto forest = co_await ReadForest(cluster_);
  if (!forest && forest.error().Is(base::ErrorCode::kForbidden)) {
    listed_ = nullptr;
  } else if (!forest) {
    WarnLeftOut(cluster_, forest.error());
  } else if (*forest != nullptr) {
    listed_ = std::move(*forest);
  }
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
    cluster_.terminal().Warn("the labels of namespace " + ns +
                             " in the files are left out: you may not read what they select");
  }
  auto quotas = co_await AppliedQuotas(cluster_, ns);
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
