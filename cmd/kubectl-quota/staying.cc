#include "cmd/kubectl-quota/staying.h"

#include <algorithm>

#include "cmd/kubectl-quota/unused_claims.h"

namespace kubectl_quota {

Onlooker Staying::Look() {
  return
      [this](const quota::Evaluator&, const json::Value& object, const inspect::ObjectName& name) {
        const bool claim = name.kind == "persistentvolumeclaim";
        if (claim) {
          names_.insert(name.name);
          claims_.AddClaim(object);
        }
        const auto& finalizers = object.ArrayAt({"metadata", "finalizers"});
        // Each claim has this one. It holds back only claims in use.
        const bool held = std::ranges::any_of(finalizers, [&](const json::Value& finalizer) {
          return !claim || finalizer != json::Value("kubernetes.io/pvc-protection");
        });
        if (held) titles_.insert(name.ToString());
      };
}

base::Task<base::Result<std::set<std::string>>> Staying::Find(Cluster& cluster, std::string ns) {
  if (names_.empty()) co_return titles_;
  auto added = co_await AddPods(cluster, ns, claims_);
  if (!added && !added.error().Is(base::ErrorCode::kForbidden)) co_return added.error();
  for (const std::string& name : names_) {
    const bool used = !added || claims_.Find(ns, name) == nullptr;
    if (used) titles_.insert("persistentvolumeclaim/" + name);
  }
  co_return titles_;
}

}  // namespace kubectl_quota
