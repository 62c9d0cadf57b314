#include "cmd/kubectl-quota/cluster_quotas.h"

#include <algorithm>
#include <map>
#include <utility>

#include "cmd/kubectl-quota/commands.h"
#include "cmd/kubectl-quota/words.h"
#include "pkg/api/object_meta.h"
#include "pkg/inspect/apply.h"
#include "pkg/quota/cluster/cluster_quota.h"

namespace kubectl_quota {
namespace {

const api::GroupVersionResource kNamespacesOfCluster{"", "v1", "namespaces"};

// The label that the API server sets on each namespace.
json::Value LabelsOfNew(const std::string& ns) {
  return json::Object{{"kubernetes.io/metadata.name", ns}};
}

json::Value LabelsIn(const json::Value& object, const std::string& ns) {
  const json::Value* own = object.At({"metadata", "labels"});
  return own != nullptr ? *own : LabelsOfNew(ns);
}

// Warns about the quotas that limit the namespace only once its manifest is applied.
void WarnOfJoined(Cluster& cluster, const std::string& ns, const inspect::Reached& before,
                  const inspect::Reached& after) {
  for (const quota::Quota& quota : after.quotas) {
    const bool limited = std::ranges::any_of(
        before.quotas, [&](const quota::Quota& other) { return other.key == quota.key; });
    if (limited) continue;
    cluster.terminal().Doubt("cluster quota " + quota.key.name + ": what namespace " + ns +
                             " already uses is not counted: its labels in the files bring it under "
                             "this quota");
  }
}

}  // namespace

base::Task<base::Result<json::Value>> NamespaceOf(Cluster& cluster, std::string ns) {
  auto object = co_await cluster.Get(kNamespacesOfCluster.Path("", ns));
  if (!object && object.error().Is(base::ErrorCode::kNotFound)) co_return json::Value();
  co_return object;
}

std::string NoSuchNamespace(const std::string& ns) { return "namespaces \"" + ns + "\" not found"; }

base::Task<base::Result<std::unique_ptr<inspect::Forest>>> ReadForest(Cluster& cluster) {
  const quota::QuotaApi api = quota::ClusterQuotaApi();
  const client::Discovered* kinds = co_await cluster.Kinds();
  if (!Serves(*kinds, api.resource)) co_return std::unique_ptr<inspect::Forest>();
  std::vector<quota::Quota> quotas;
  const auto add = [&](const json::Value& object) {
    auto quota = quota::ParseQuota(object, api.form);
    const std::string wrong = quota ? quota->unreadable.why : quota.error().message;
    if (!wrong.empty()) {
      cluster.terminal().Doubt("cluster quota " + std::string(api::Name(object)) +
                               " cannot be read: " + wrong);
    }
    if (quota) quotas.push_back(std::move(*quota));
  };
  auto listed = co_await cluster.List(QuotaList(api, "", ""), add, [&] { quotas.clear(); });
  if (!listed) co_return listed.error();
  co_return std::make_unique<inspect::Forest>(std::move(quotas));
}

base::Task<base::Result<inspect::Reached>> ReachOf(Cluster& cluster, const inspect::Forest& forest,
                                                   std::string ns, json::Value manifest) {
  if (forest.empty()) co_return inspect::Reached();
  const auto stored = co_await NamespaceOf(cluster, ns);
  if (!stored) co_return stored.error();
  const json::Value before = LabelsIn(*stored, ns);
  auto reached = forest.ReachOf(&before);
  if (manifest.IsNull()) co_return reached;
  const json::Value after = inspect::LabelsAfter(manifest, *stored);
  auto then = forest.ReachOf(&after);
  if (!stored->IsNull()) WarnOfJoined(cluster, ns, reached, then);
  co_return then;
}

base::Task<base::Result<LabelsByNamespace>> LabelsOf(Cluster& cluster,
                                                     std::vector<std::string> namespaces) {
  LabelsByNamespace labels;
  for (const std::string& ns : namespaces) {
    const auto object = co_await NamespaceOf(cluster, ns);
    if (!object) co_return object.error();
    if (object->IsNull()) {
      co_return base::Error{.code = base::ErrorCode::kNotFound, .message = NoSuchNamespace(ns)};
    }
    labels[ns] = LabelsIn(*object, ns);
  }
  co_return base::Result<LabelsByNamespace>(std::move(labels));
}

base::Error NoSuchClusterQuota(const std::string& wanted, const inspect::Forest& forest) {
  std::string names;
  for (const std::string& name : forest.Names()) {
    names.append(names.empty() ? "; there are: " : ", ").append(name);
  }
  return {
      .code = base::ErrorCode::kNotFound,
      .message = "GET clusterquotas: 404 NotFound: clusterquotas.quota-controller-manager.io \"" +
                 wanted + "\" not found" + names,
      .http_status = 404,
      .reason = "NotFound"};
}

base::Error NoClusterQuotas(const Cluster& cluster) {
  if (const base::Error* unreachable = cluster.Unreachable()) return *unreachable;
  return {.code = base::ErrorCode::kInvalidArgument,
          .message = "the server doesn't have a resource type \"clusterquotas\""};
}

void WarnLeftOut(Cluster& cluster, const base::Error& error) {
  cluster.terminal().Doubt("ClusterQuotas are left out: " + ErrorText(error));
}

bool IsClusterQuota(const std::string& wanted) {
  const std::size_t slash = wanted.find('/');
  const std::string kind = wanted.substr(0, slash == std::string::npos ? 0 : slash);
  return kind == "clq" || kind.starts_with("clusterquota");
}

std::string NameOfClusterQuota(const std::string& wanted) {
  return IsClusterQuota(wanted) ? wanted.substr(wanted.find('/') + 1) : wanted;
}

base::Task<base::Result<std::set<std::string>>> NamespacesOf(Cluster& cluster,
                                                             inspect::Forest& forest,
                                                             std::string quota) {
  std::map<std::string, json::Value> labels;
  const auto add = [&](const json::Value& object) {
    const json::Value* of_object = object.At({"metadata", "labels"});
    labels[std::string(api::Name(object))] = of_object != nullptr ? *of_object : json::Value();
  };
  auto listed = co_await cluster.List(Listing(kNamespacesOfCluster, "", "metadata.labels"), add,
                                      [&] { labels.clear(); });
  if (!listed) co_return listed.error();
  for (const auto& [ns, of_object] : labels) forest.AddNamespace(ns, &of_object);
  co_return forest.NamespacesOf(quota);
}

}  // namespace kubectl_quota
