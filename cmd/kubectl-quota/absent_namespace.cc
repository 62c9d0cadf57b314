#include "cmd/kubectl-quota/absent_namespace.h"

#include <string>
#include <utility>
#include <vector>

#include "cmd/kubectl-quota/cluster_quotas.h"
#include "cmd/kubectl-quota/did_you_mean.h"
#include "pkg/api/object_meta.h"

namespace kubectl_quota {
namespace {

const api::GroupVersionResource kAllNamespaces{"", "v1", "namespaces"};

// Returns the namespace that must exist; "" if none must. A tree and a ClusterQuota are of the
// cluster, so the namespace of the context does not matter.
std::string Needed(const Session& session) {
  switch (session.options.command) {
    case Command::kTop:
    case Command::kWhy:
    case Command::kSuggest:
    case Command::kReport:
      return session.ns;
    case Command::kWho:
      return IsClusterQuota(session.options.who.quota) ? session.options.place.ns : session.ns;
    case Command::kTree:
      return session.options.place.ns;
    default:
      return "";
  }
}

base::Task<std::vector<std::string>> NamesOfAll(Cluster& cluster) {
  std::vector<std::string> names;
  const auto listed = co_await cluster.List(
      Listing(kAllNamespaces, "", "metadata.name"),
      [&](const json::Value& object) { names.emplace_back(api::Name(object)); },
      [&] { names.clear(); });
  if (!listed) names.clear();
  co_return names;
}

}  // namespace

base::Task<std::optional<base::Error>> FindAbsentNamespace(Session& session) {
  const std::string ns = Needed(session);
  if (ns.empty()) co_return std::nullopt;
  const client::Discovered* kinds = co_await session.cluster.Kinds();
  if (!Serves(*kinds, kAllNamespaces)) co_return std::nullopt;
  const auto stored = co_await NamespaceOf(session.cluster, ns);
  if (!stored || !stored->IsNull()) co_return std::nullopt;
  const std::vector<std::string> others = co_await NamesOfAll(session.cluster);
  co_return base::Error{
      .code = base::ErrorCode::kNotFound,
      .message = "GET namespace: 404 NotFound: " + NoSuchNamespace(ns) + DidYouMean(ns, others),
      .http_status = 404,
      .reason = "NotFound"};
}

}  // namespace kubectl_quota
