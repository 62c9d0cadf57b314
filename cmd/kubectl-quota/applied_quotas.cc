#include "cmd/kubectl-quota/applied_quotas.h"

#include <utility>

#include "cmd/kubectl-quota/cluster_quotas.h"
#include "cmd/kubectl-quota/words.h"
#include "pkg/api/object_meta.h"
#include "pkg/inspect/applied.h"

namespace kubectl_quota {
namespace {

const api::GroupVersionResource kApplied{"quota-controller-manager.io", "v1alpha1",
                                         "appliedclusterquotas"};

}  // namespace

base::Task<std::vector<quota::Quota>> AppliedQuotas(Cluster& cluster, std::string ns) {
  std::vector<quota::Quota> quotas;
  const client::Discovered* kinds = co_await cluster.Kinds();
  if (!Serves(*kinds, kApplied)) co_return quotas;
  const auto add = [&](const json::Value& object) {
    auto quota = inspect::QuotaOfApplied(object);
    if (quota) {
      quotas.push_back(std::move(*quota));
    } else {
      cluster.terminal().Doubt("applied cluster quota " + std::string(api::Name(object)) +
                               " cannot be read: " + quota.error().message);
    }
  };
  auto listed =
      co_await cluster.List(Listing(kApplied, ns, "status"), add, [&] { quotas.clear(); });
  if (!listed) quotas.clear();
  if (!listed && !listed.error().Is(base::ErrorCode::kForbidden)) {
    WarnLeftOut(cluster, listed.error());
  }
  if (!quotas.empty()) {
    cluster.terminal().Warn(
        "amounts of ClusterQuotas are from the AppliedClusterQuotas in namespace " + ns +
        ", which may be some seconds old");
  }
  co_return quotas;
}

}  // namespace kubectl_quota
