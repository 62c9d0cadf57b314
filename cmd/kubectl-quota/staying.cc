#include "cmd/kubectl-quota/staying.h"

#include <algorithm>

namespace kubectl_quota {

Onlooker Staying::Look() {
  return
      [this](const quota::Evaluator&, const json::Value& object, const inspect::ObjectName& name) {
        const bool claim = name.kind == "persistentvolumeclaim";
        if (claim) claims_.insert(name.name);
        const auto& finalizers = object.ArrayAt({"metadata", "finalizers"});
        // Each claim has this one. It holds back only claims in use.
        const bool held = std::ranges::any_of(finalizers, [&](const json::Value& finalizer) {
          return !claim || finalizer != json::Value("kubernetes.io/pvc-protection");
        });
        if (held) titles_.insert(name.ToString());
      };
}

base::Task<base::Result<std::set<std::string>>> Staying::Find(Cluster& cluster, std::string ns) {
  if (claims_.empty()) co_return titles_;
  std::set<std::string> used;
  const auto add = [&](const json::Value& pod) {
    const std::string_view phase = pod.StringAt({"status", "phase"});
    if (phase == "Succeeded" || phase == "Failed") return;
    for (const json::Value& volume : pod.ArrayAt({"spec", "volumes"})) {
      used.emplace(volume.StringAt({"persistentVolumeClaim", "claimName"}));
    }
  };
  const api::GroupVersionResource pods{"", "v1", "pods"};
  auto what = Listing(pods, std::move(ns), "spec.volumes status.phase");
  auto listed = co_await cluster.List(std::move(what), add, [&] { used.clear(); });
  if (!listed && !listed.error().Is(base::ErrorCode::kForbidden)) co_return listed.error();
  for (const std::string& claim : claims_) {
    if (!listed || used.contains(claim)) titles_.insert("persistentvolumeclaim/" + claim);
  }
  co_return titles_;
}

}  // namespace kubectl_quota
