#include "cmd/kubectl-quota/unused_claims.h"

#include <utility>
#include <vector>

#include "cmd/kubectl-quota/counting.h"
#include "cmd/kubectl-quota/words.h"
#include "pkg/inspect/counted.h"

namespace kubectl_quota {
namespace {

// Adds the claims of a namespace, or of all ("").
base::Task<base::Result<void>> AddClaims(Cluster& cluster, std::string ns,
                                         inspect::UnusedClaims& claims) {
  inspect::UnusedClaims read = claims;  // until the list is complete: it may start over
  const api::GroupVersionResource resource{"", "v1", "persistentvolumeclaims"};
  auto what = Listing(resource, std::move(ns), inspect::UnusedClaims::kClaimFields);
  const auto add = [&](const json::Value& claim) { read.AddClaim(claim); };
  auto listed = co_await cluster.List(std::move(what), add, [&] { read = claims; });
  if (!listed) co_return listed.error();
  claims = std::move(read);
  co_return base::Result<void>();
}

}  // namespace

base::Task<base::Result<void>> AddPods(Cluster& cluster, std::string ns,
                                       inspect::UnusedClaims& claims) {
  const api::GroupVersionResource resource{"", "v1", "pods"};
  auto what = Listing(resource, std::move(ns), inspect::UnusedClaims::kPodFields);
  const auto add = [&](const json::Value& pod) { claims.AddPod(pod); };
  co_return co_await cluster.List(std::move(what), add, [] {});
}

base::Task<base::Result<inspect::UnusedClaims>> ReadUnusedClaims(Cluster& cluster,
                                                                 std::set<std::string> namespaces) {
  const std::vector<std::string> places = PlacesOf(namespaces);
  inspect::UnusedClaims claims;
  for (const std::string& ns : places) {
    auto added = co_await AddClaims(cluster, ns, claims);
    if (!added) co_return added.error();
  }
  for (const std::string& ns : places) {
    if (claims.WithoutCondition() == 0) break;
    auto added = co_await AddPods(cluster, ns, claims);
    if (added) continue;
    if (!added.error().Is(base::ErrorCode::kForbidden)) co_return added.error();
    const auto untold = static_cast<std::int64_t>(claims.WithoutCondition());
    cluster.terminal().Doubt(
        "shown without " + inspect::Counted(untold, "claim") +
        ", of which only the pods tell whether they are used: " + ErrorText(added.error()));
    claims.DropWithoutCondition();
  }
  co_return base::Result<inspect::UnusedClaims>(std::move(claims));
}

}  // namespace kubectl_quota
