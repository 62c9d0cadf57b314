#include "pkg/inspect/autoscaling.h"

#include <utility>

#include "pkg/base/text.h"
#include "pkg/inspect/manifest.h"

namespace inspect {

bool IsScalable(const json::Value& object) {
  return Is(object, kDeployment) || Is(object, kReplicaSet) || Is(object, kStatefulSet) ||
         Is(object, kReplicationController);
}

ObjectName TargetOf(const json::Value& autoscaler) {
  const auto field = [&](std::string_view name) {
    return autoscaler.StringAt({"spec", "scaleTargetRef", name});
  };
  return {base::ToLower(field("kind")), GroupOf(field("apiVersion")), std::string(field("name"))};
}

void Autoscalers::Add(const json::Value& autoscaler) {
  Scaling scaling{.by = NameOf(autoscaler),
                  .least = NumberAt(autoscaler, {"spec", "minReplicas"}, 1),
                  .most = NumberAt(autoscaler, {"spec", "maxReplicas"}, 1)};
  const auto [at, added] = by_target_.emplace(TargetOf(autoscaler), scaling);
  if (!added && at->second.least < scaling.least) at->second = std::move(scaling);
}

const Scaling* Autoscalers::Of(const json::Value& object) const {
  if (!IsScalable(object)) return nullptr;
  const auto found = by_target_.find(NameOf(object));
  return found == by_target_.end() ? nullptr : &found->second;
}

}  // namespace inspect
