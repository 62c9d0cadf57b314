#include "cmd/kubectl-quota/pod_groups.h"

#include <utility>

#include "cmd/kubectl-quota/counting.h"
#include "cmd/kubectl-quota/family.h"
#include "cmd/kubectl-quota/words.h"

namespace kubectl_quota {
namespace {

const api::GroupVersionResource kMembers{"", "v1", "pods"};

}  // namespace

base::Task<base::Result<void>> ReadPodGroup(Cluster& cluster, std::string ns, std::string name,
                                            inspect::PodGroups& groups) {
  if (name.empty() || groups.contains(name)) co_return base::Result<void>();
  const client::Discovered* kinds = co_await cluster.Kinds();
  const auto* served = FindResource(*kinds, {"scheduling.k8s.io", "podgroups"});
  if (served == nullptr) co_return base::Result<void>();
  auto read = co_await cluster.Get(served->gvr.Path(ns, name));
  if (read) {
    groups.emplace(std::move(name), std::move(*read));
    co_return base::Result<void>();
  }
  if (read.error().Is(base::ErrorCode::kForbidden)) {
    cluster.terminal().Warn(
        "claims of PodGroup " + name +
        " are counted for each pod, and its minCount is not known: " + ErrorText(read.error()));
    co_return base::Result<void>();
  }
  if (!read.error().Is(base::ErrorCode::kNotFound)) co_return read.error();
  co_return base::Result<void>();
}

base::Task<base::Result<inspect::Members>> CountMembers(Cluster& cluster, std::string ns) {
  inspect::Members members;
  const auto add = [&](const json::Value& pod) {
    const std::string_view group = pod.StringAt({"spec", "schedulingGroup", "podGroupName"});
    if (!group.empty() && IsActive(pod)) ++members[std::string(group)];
  };
  auto what = Listing(kMembers, std::move(ns),
                      "metadata.deletionTimestamp spec.schedulingGroup.podGroupName status.phase");
  auto listed = co_await cluster.List(std::move(what), add, [&] { members.clear(); });
  if (listed) co_return members;
  if (!listed.error().Is(base::ErrorCode::kForbidden)) co_return listed.error();
  cluster.terminal().Warn("pods that PodGroups have already are left out: " +
                          ErrorText(listed.error()));
  co_return inspect::Members();
}

}  // namespace kubectl_quota
