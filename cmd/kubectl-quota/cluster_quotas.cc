#include "cmd/kubectl-quota/cluster_quotas.h"

#include <algorithm>
#include <utility>

#include "cmd/kubectl-quota/words.h"
#include "pkg/api/object_meta.h"
#include "pkg/quota/cluster/cluster_quota.h"

namespace kubectl_quota {
namespace {

const api::GroupVersionResource kNamespacesOfCluster{"", "v1", "namespaces"};

// What the API server gives to each namespace.
json::Value LabelsOfNew(const std::string& ns) {
  return json::Object{{"kubernetes.io/metadata.name", ns}};
}

}  // namespace

base::Task<base::Result<std::unique_ptr<inspect::Forest>>> ReadForest(Cluster& cluster) {
  const quota::QuotaApi api = quota::ClusterQuotaApi();
  const client::Discovered* kinds = co_await cluster.Kinds();
  const bool served = std::ranges::any_of(
      kinds->resources, [&](const auto& resource) { return resource.gvr == api.resource; });
  if (!served) co_return std::unique_ptr<inspect::Forest>();
  std::vector<quota::Quota> quotas;
  const auto add = [&](const json::Value& object) {
    auto quota = quota::ParseQuota(object, api.form);
    if (quota) {
      quotas.push_back(std::move(*quota));
    } else {
      cluster.terminal().Warn("cluster quota " + std::string(api::Name(object)) +
                              " cannot be read: " + quota.error().message);
    }
  };
  auto listed = co_await cluster.List(QuotaList(api, "", ""), add, [&] { quotas.clear(); });
  if (!listed) co_return listed.error();
  co_return std::make_unique<inspect::Forest>(std::move(quotas));
}

base::Task<std::unique_ptr<inspect::Forest>> ForestIfAny(Cluster& cluster, std::string selector) {
  if (!selector.empty()) co_return std::make_unique<inspect::Forest>(std::vector<quota::Quota>());
  auto forest = co_await ReadForest(cluster);
  if (forest && *forest != nullptr) co_return std::move(*forest);
  if (!forest && !forest.error().Is(base::ErrorCode::kForbidden)) {
    cluster.terminal().Warn("looked at without ClusterQuotas: " + ErrorText(forest.error()));
  }
  co_return std::make_unique<inspect::Forest>(std::vector<quota::Quota>());
}

base::Task<base::Result<inspect::Reached>> ReachOf(Cluster& cluster, const inspect::Forest& forest,
                                                   std::string ns) {
  if (forest.empty()) co_return inspect::Reached();
  auto object = co_await cluster.Get(kNamespacesOfCluster.Path("", ns));
  if (object) co_return forest.ReachOf(object->At({"metadata", "labels"}));
  if (!object.error().Is(base::ErrorCode::kNotFound)) co_return object.error();
  const json::Value labels = LabelsOfNew(ns);
  co_return forest.ReachOf(&labels);
}

base::Task<inspect::Reached> ReachIfKnown(Cluster& cluster, const inspect::Forest& forest,
                                          std::string ns) {
  auto reached = co_await ReachOf(cluster, forest, std::move(ns));
  if (!reached) {
    cluster.terminal().Warn("looked at without ClusterQuotas: " + ErrorText(reached.error()));
    co_return inspect::Reached();
  }
  for (const quota::Quota& quota : reached->quotas) {
    const std::string why = inspect::WhyUncertain(quota);
    if (!why.empty()) cluster.terminal().Warn("cluster quota " + quota.key.name + ": " + why);
  }
  co_return std::move(*reached);
}

}  // namespace kubectl_quota
