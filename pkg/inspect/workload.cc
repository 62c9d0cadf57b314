#include "pkg/inspect/workload.h"

#include "pkg/api/object_meta.h"
#include "pkg/inspect/expander.h"
#include "pkg/inspect/helm.h"
#include "pkg/inspect/workload_kinds.h"

namespace inspect {

using json::Value;

void AddLabelled(const Value& object, Surroundings& surroundings) {
  if (Is(object, kPodGroup)) {
    surroundings.pod_groups.insert_or_assign(std::string(api::Name(object)), object);
  }
  if (Is(object, kClaim)) surroundings.claims.emplace(api::Name(object));
  const bool pod = Is(object, kPod);
  const auto plan =
      pod ? std::optional(PodPlan{.pod_template = object, .count = 1})
          : Expander(object, surroundings).Scaled(PodsOf(object, surroundings.nodes_for));
  if (!plan || plan->count == 0) return;
  const Value* labels = plan->pod_template.At({"metadata", "labels"});
  if (labels == nullptr) return;
  const Value* spec = plan->pod_template.At({"spec"});
  surroundings.labelled.push_back({*labels, plan->count, spec == nullptr ? Value() : *spec});
}

base::Result<Expansion> Expand(const Value& object, const Surroundings& surroundings) {
  Expander expander(object, surroundings);
  if (HelmPhaseOf(object) == HelmPhase::kNever) {
    expander.Note("not counted: Helm creates this hook neither to install nor to upgrade");
    return expander.Take();
  }
  if (auto added = expander.AddItself(); !added) return added.error();
  expander.AddBinding(object);
  if (Is(object, kMachine)) expander.AddMachineParts(object);
  const auto plan = expander.Scaled(PodsOf(object, surroundings.nodes_for));
  expander.NoteAbout(plan);
  if (Is(object, kCronJob)) {
    if (auto added = expander.AddRun(true); !added) return added.error();
  }
  if (HasEndpoints(object)) expander.AddEndpoints(object);
  if (!plan) {
    if (EndsAsHook(object)) expander.EndHook();
    return expander.Take();
  }
  expander.AddBetween(object);
  if (Is(object, kStatefulSet)) expander.AddSetClaims(plan->count);
  const bool held_back = Is(object, kDeployment) && FlagAt(object, {"spec", "paused"});
  if (!held_back) {
    if (auto added = expander.AddPods(plan->pod_template, plan->count); !added)
      return added.error();
    auto ended = expander.AddEnded(plan->pod_template, plan->ended, "its completions");
    if (!ended) return ended.error();
  }
  if (EndsAsHook(object)) expander.EndHook();
  return expander.Take();
}

}  // namespace inspect
