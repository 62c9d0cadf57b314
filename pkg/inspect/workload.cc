#include "pkg/inspect/workload.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/inspect/apply.h"
#include "pkg/inspect/containment.h"
#include "pkg/inspect/manifest.h"
#include "pkg/inspect/workload_kinds.h"

namespace inspect {
namespace {

using json::Object;
using json::Value;

Value MadeBy(const Value& maker, std::string_view api_version, std::string_view kind,
             const std::string& name) {
  Value made = Object{{"apiVersion", api_version}, {"kind", kind}};
  made.Make({"metadata", "namespace"}) = api::Namespace(maker);
  made.Make({"metadata", "name"}) = name;
  return made;
}

// Collects the pieces of one manifest.
class Expander {
 public:
  Expander(const Value& object, const Surroundings& surroundings)
      : object_(object), surroundings_(surroundings), of_(NameOf(object)) {}

  Expansion Take() { return std::move(expansion_); }
  void Note(const std::string& text) { expansion_.notes.push_back(of_.ToString() + ": " + text); }
  void NoteUncounted(const std::string& text) {
    Note(text);
    expansion_.uncounted.push_back(expansion_.notes.back());
  }

  void Add(Value object, std::int64_t count = 1, std::optional<std::int64_t> first = {}) {
    if (count == 0 && first.value_or(0) == 0) return;
    std::vector<std::string> refusals;
    const bool created = std::max(count, first.value_or(0)) > 0;
    if (created && !surroundings_.closed.empty()) {
      refusals = {surroundings_.closed};
    } else if (created) {
      refusals = RefusalsOf(object, surroundings_.defaults.bounds);
    }
    expansion_.pieces.push_back({.object = std::move(object),
                                 .count = count,
                                 .first = first,
                                 .of = of_,
                                 .refusals = std::move(refusals)});
  }

  base::Result<void> AddPods(const Value& pod_template, std::int64_t count,
                             std::optional<std::int64_t> first = {}) {
    if (count == 0 && first.value_or(0) == 0) return {};
    const std::string name = std::string(api::Name(object_)) + "-…";
    auto pod = AdmittedPod(PodFromTemplate(pod_template, api::Namespace(object_), name),
                           surroundings_.defaults);
    if (!pod) return pod.error().Wrap(of_.ToString());
    if (auto added = AddClaims(*pod, count, first); !added) return added;
    Add(std::move(*pod), count, first);
    return {};
  }

  base::Result<void> AddItself() {
    Value whole = object_;
    if (Is(whole, kPod)) {
      auto pod = AdmittedPod(std::move(whole), surroundings_.defaults);
      if (!pod) return pod.error().Wrap(of_.ToString());
      whole = std::move(*pod);
      if (auto added = AddClaims(whole, 1, {}); !added) return added;
    } else if (Is(whole, kClaim)) {
      whole = AdmittedClaim(std::move(whole), surroundings_.defaults);
    }
    Add(std::move(whole));
    return {};
  }

  // Defaults apply at creation only, so an update of a pod or a claim adds none.
  void AddUpdate(const Value& stored) {
    const bool merged = Is(object_, kPod) || Is(object_, kClaim);
    expansion_.pieces.push_back(
        {.object = merged ? Overlay(stored, object_) : object_, .stored = stored, .of = of_});
  }

  // Claims of removed replicas stay, and are used again.
  void AddSetClaims(std::int64_t replicas) {
    for (SetClaims& claims :
         SetClaimsOf(object_, replicas, surroundings_.claims, surroundings_.defaults)) {
      Add(std::move(claims.claim), std::max<std::int64_t>(0, replicas - claims.Present()));
    }
  }

 private:
  // Adds the claims that are created with pods.
  base::Result<void> AddClaims(const Value& pod, std::int64_t count,
                               std::optional<std::int64_t> first) {
    for (Value& claim : VolumeClaimsOf(pod, surroundings_.defaults)) {
      Add(std::move(claim), count, first);
    }
    if (!surroundings_.claim_templates) return {};
    auto claims = DeviceClaimsOf(pod, *surroundings_.claim_templates);
    // Pods that go may have claims from a template that is gone already.
    if (!claims && std::max(count, first.value_or(0)) <= 0) return {};
    if (!claims) return claims.error().Wrap(of_.ToString());
    for (Value& claim : *claims) Add(std::move(claim), count, first);
    return {};
  }

  const Value& object_;
  const Surroundings& surroundings_;
  ObjectName of_;
  Expansion expansion_;
};

bool LooksLikeMore(const Value& object) {
  return object.At({"spec", "template", "spec", "containers"}) != nullptr ||
         object.At({"spec", "replicas"}) != nullptr;
}

// Adds the objects between the object and its pods, such as a ReplicaSet.
void AddBetween(const Value& object, Expander& expander) {
  const std::string name = std::string(api::Name(object)) + "-…";
  if (Is(object, kDeployment) && !FlagAt(object, {"spec", "paused"})) {
    expander.Add(MadeBy(object, "apps/v1", "ReplicaSet", name));
  }
  if (Is(object, kStatefulSet) || Is(object, kDaemonSet)) {
    expander.Add(MadeBy(object, "apps/v1", "ControllerRevision", name));
  }
}

base::Result<void> AddRun(const Value& cron_job, const Surroundings& surroundings,
                          Expander& expander) {
  if (FlagAt(cron_job, {"spec", "suspend"})) return {};
  const Value job = JobOf(cron_job);
  expander.Add(job);
  expander.Note("counted with one run at a time");
  const auto plan = PodsOf(job, surroundings.nodes_for);
  return plan ? expander.AddPods(plan->pod_template, plan->count) : base::Result<void>();
}

void NoteAbout(const Value& object, const Surroundings& surroundings,
               const std::optional<PodPlan>& plan, Expander& expander) {
  if (Is(object, kDaemonSet) && !surroundings.nodes_for) {
    expander.NoteUncounted(
        "its pods are not counted, because the number of nodes is not known: give --nodes");
  }
  const bool known = plan || Is(object, kPod) || Is(object, kCronJob);
  if (!known && LooksLikeMore(object)) {
    expander.NoteUncounted(
        "counted as the object that it is; what its controller makes of it is not known");
  }
}

// Returns the plan with at least the pods that an autoscaler makes.
std::optional<PodPlan> Scaled(std::optional<PodPlan> plan, const Value& object,
                              const Surroundings& surroundings, Expander& expander) {
  const Scaling* scaling = surroundings.autoscalers.Of(object);
  if (!plan || plan->count == 0 || scaling == nullptr) return plan;
  plan->count = std::max(plan->count, scaling->least);
  expander.Note("counted with " + std::to_string(plan->count) + " pods; " + scaling->by.ToString() +
                " may make it " + std::to_string(scaling->most));
  return plan;
}

// Adds a rollout: new pods and remaining old ones at the largest sum, and the numbers at the
// beginning.
base::Result<void> AddRollout(const Value& object, const PodPlan& before, const PodPlan& after,
                              Expander& expander) {
  const std::int64_t surge = SurgeOf(object, after.count);
  const std::int64_t kept = std::min(before.count, surge);
  const std::int64_t begun =
      std::clamp<std::int64_t>(after.count + surge - before.count, 0, after.count);
  AddBetween(object, expander);
  auto added = expander.AddPods(after.pod_template, after.count, surge > 0 ? begun : 0);
  if (!added) return added;
  return expander.AddPods(before.pod_template, kept - before.count, 0);
}

base::Result<void> AddChange(const Value& object, const Apply& apply, const PodPlan& before,
                             const PodPlan& after, Expander& expander) {
  // A template that lacks what the last one set is contained in the stored one, but is a change.
  const bool same =
      IsContained(after.pod_template, before.pod_template) && apply.Keeps({"spec", "template"});
  if (!same && ReplacesPods(object)) return AddRollout(object, before, after, expander);
  const PodPlan& made = same ? before : after;
  return expander.AddPods(made.pod_template, std::max<std::int64_t>(0, after.count - before.count));
}

// True for a Deployment without a ReplicaSet: it was paused from the start, or is just created.
bool IsUnrolled(const Value& object, const Value& stored) {
  return Is(object, kDeployment) && PresentPods(stored) == 0 &&
         stored.At({"metadata", "annotations", "deployment.kubernetes.io/revision"}) == nullptr;
}

bool StaysPaused(const Apply& apply) {
  const Value* paused = apply.After({"spec", "paused"});
  return paused != nullptr && paused->AsBool().value_or(false);
}

const Value& SpecOf(const Value& object) {
  static const Value none = Object();
  const Value* spec = object.At({"spec"});
  return spec == nullptr ? none : *spec;
}

// Returns the manifest with the stored fields that decide how many pods it wants, where it omits
// them.
Value WithKeptCount(const Value& object, const Value& stored, const Apply& apply) {
  Value whole = object;
  const auto keep = [&](std::string_view field) {
    const Value* kept = apply.After({"spec", field});
    if (kept != nullptr) whole.Make({"spec", field}) = *kept;
  };
  if (Is(object, kJob)) {
    for (const char* field : {"parallelism", "completions", "suspend"}) keep(field);
    // The status tells which pods succeeded, and whether the Job is finished.
    if (const Value* status = stored.At({"status"})) whole.Make({"status"}) = *status;
  } else if (!Is(object, kDaemonSet)) {
    keep("replicas");
  }
  return whole;
}

}  // namespace

base::Result<Expansion> Expand(const Value& object, const Surroundings& surroundings) {
  Expander expander(object, surroundings);
  if (auto added = expander.AddItself(); !added) return added.error();
  const auto plan = Scaled(PodsOf(object, surroundings.nodes_for), object, surroundings, expander);
  NoteAbout(object, surroundings, plan, expander);
  if (Is(object, kCronJob)) {
    if (auto added = AddRun(object, surroundings, expander); !added) return added.error();
  }
  if (!plan) return expander.Take();
  AddBetween(object, expander);
  if (Is(object, kStatefulSet)) expander.AddSetClaims(plan->count);
  const bool held_back = Is(object, kDeployment) && FlagAt(object, {"spec", "paused"});
  if (!held_back) {
    if (auto added = expander.AddPods(plan->pod_template, plan->count); !added)
      return added.error();
  }
  return expander.Take();
}

base::Result<Expansion> ExpandScaling(const Value& stored, const Surroundings& surroundings) {
  Expander expander(stored, surroundings);
  const auto plan = Scaled(PodsOf(stored, surroundings.nodes_for), stored, surroundings, expander);
  const std::int64_t present = plan ? PresentPods(stored).value_or(0) : 0;
  if (!plan || plan->count <= present) return expander.Take();
  if (Is(stored, kStatefulSet)) expander.AddSetClaims(plan->count);
  if (auto added = expander.AddPods(plan->pod_template, plan->count - present); !added)
    return added.error();
  return expander.Take();
}

base::Result<Expansion> ExpandChange(const Value& object, const Value& stored,
                                     const Surroundings& surroundings) {
  Expander expander(object, surroundings);
  expander.AddUpdate(stored);
  const Apply apply(object, stored);
  const auto same = [&] {
    return IsContained(SpecOf(object), SpecOf(stored)) && apply.Keeps({"spec"});
  };
  if (Is(object, kCronJob) && !same()) {
    if (auto added = AddRun(object, surroundings, expander); !added) return added.error();
  }
  auto before = PodsOf(stored, surroundings.nodes_for);
  auto after = Scaled(PodsOf(WithKeptCount(object, stored, apply), surroundings.nodes_for), object,
                      surroundings, expander);
  NoteAbout(object, surroundings, after, expander);
  if (!before || !after) return expander.Take();
  if (IsUnrolled(object, stored)) {
    if (StaysPaused(apply)) return expander.Take();
    AddBetween(object, expander);
    auto added = expander.AddPods(after->pod_template, after->count);
    if (!added) return added.error();
    return expander.Take();
  }
  before->count = PresentPods(stored).value_or(before->count);
  if (Is(object, kStatefulSet)) expander.AddSetClaims(after->count);
  auto added = AddChange(object, apply, *before, *after, expander);
  if (!added) return added.error();
  return expander.Take();
}

}  // namespace inspect
