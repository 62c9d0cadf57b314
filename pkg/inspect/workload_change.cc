// What a changed manifest of a stored object creates and deletes.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/inspect/apply.h"
#include "pkg/inspect/containment.h"
#include "pkg/inspect/expander.h"
#include "pkg/inspect/helm.h"
#include "pkg/inspect/made.h"
#include "pkg/inspect/manifest.h"
#include "pkg/inspect/workload.h"
#include "pkg/inspect/workload_kinds.h"

namespace inspect {
namespace {

using json::Object;
using json::Value;

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

// The pods of a stored workload before and after its manifest is applied.
struct Change {
  PodPlan before;
  PodPlan after;     // with the template that it then has
  bool same = true;  // the template does not change
};

// `whole` is the stored object after the manifest is applied, here and below.
Change ChangeOf(PodPlan before, PodPlan after, const Value& whole, const Apply& apply) {
  Change change{.before = std::move(before), .after = std::move(after)};
  // A template that lacks what the last one set is contained in the stored one, but is a change.
  change.same = IsContained(change.after.pod_template, change.before.pod_template) &&
                apply.Keeps({"spec", "template"});
  if (change.same) {
    change.after.pod_template = change.before.pod_template;
  } else if (apply.KnowsLast()) {
    // Without the last manifest it is not known which fields other writers set.
    if (const Value* applied = whole.At({"spec", "template"})) change.after.pod_template = *applied;
  }
  return change;
}

// The pods that a rollout leaves alone, and those that it replaces.
struct Division {
  std::int64_t current = 0;
  std::int64_t kept = 0;  // those of them below the partition
  std::vector<OldPod> old;
  [[nodiscard]] std::int64_t Total() const {
    std::int64_t total = current;
    for (const OldPod& pod : old) total += pod.count;
    return total;
  }
};

Division Divide(const Made& made, const Change& change, const Value& whole) {
  Division pods;
  const Value* revision = RevisionOf(made, change.after.pod_template);
  for (const Value& pod : made.pods) {
    // If the revision is not found, all pods of an unchanged template are taken to have it.
    const bool current = revision == nullptr ? change.same : IsOfRevision(pod, *revision);
    const std::int64_t partition = PartitionOf(whole);
    const auto replica =
        partition == 0 ? std::nullopt : ReplicaOf(whole, pod.StringAt({"metadata", "name"}));
    const bool kept = replica && *replica >= 0 && *replica < partition;
    pods.kept += kept ? 1 : 0;
    if (current || kept) {
      ++pods.current;
    } else {
      pods.old.push_back({.objects = WithClaims(pod, made)});
    }
  }
  return pods;
}

base::Result<Division> DivisionOf(const std::optional<Made>& made, const Change& change,
                                  const Value& whole, Expander& expander) {
  if (made) return Divide(*made, change, whole);
  Division pods;
  pods.kept = std::min(change.before.count, PartitionOf(whole));
  pods.current = change.same ? change.before.count : pods.kept;
  const std::int64_t old = change.before.count - pods.current;
  if (old == 0) return pods;
  auto assumed = expander.Assumed(change.before.pod_template, old);
  if (!assumed) return assumed.error();
  pods.old.push_back(std::move(*assumed));
  return pods;
}

// The controller of a Deployment scales the ReplicaSet that has pods before it makes one of the new
// template (kubernetes v1.36.3, isScalingEvent in pkg/controller/deployment/sync.go).
base::Result<void> ScaleFirst(const Value& whole, const Change& change, Division& pods,
                              Expander& expander) {
  const std::int64_t more = change.after.count - pods.Total();
  const bool scales = Is(whole, kDeployment) && pods.current == 0 && !pods.old.empty();
  if (!scales || more <= 0) return {};
  auto made = expander.Assumed(change.before.pod_template, more);
  if (!made) return made.error();
  pods.old.push_back(std::move(*made));
  return expander.AddPods(change.before.pod_template, more, "its rollout");
}

base::Result<void> AddChange(const Value& whole, const Change& change,
                             const std::optional<Made>& made, Expander& expander) {
  const bool known = made && RevisionOf(*made, change.after.pod_template) != nullptr;
  if (!change.same && !known) expander.AddBetween(whole);
  const std::int64_t wanted = change.after.count;
  if (!ReplacesPods(whole)) {
    return expander.AddPods(change.after.pod_template, wanted - change.before.count);
  }
  auto pods = DivisionOf(made, change, whole, expander);
  if (!pods) return pods.error();
  if (!made && !pods->old.empty()) {
    expander.NoteUncounted("the pods that its rollout replaces cannot be seen");
  }
  // Those that are missing below the partition get the template of before.
  const std::int64_t below = change.same ? 0 : std::min(PartitionOf(whole), wanted) - pods->kept;
  if (below > 0) {
    auto added = expander.AddPods(change.before.pod_template, below, "its partition");
    if (!added) return added;
    pods->current += below;
  }
  if (auto scaled = ScaleFirst(whole, change, *pods, expander); !scaled) return scaled;
  // New pods are created until there are `surge` more than wanted.
  const std::int64_t surge = SurgeOf(whole, wanted);
  const std::int64_t old = pods->Total() - pods->current;
  const std::int64_t spare = Recreates(whole) ? -old : wanted + surge - pods->Total();
  return expander.AddRollout(change.after.pod_template, wanted - pods->current,
                             std::move(pods->old), spare, surge);
}

// Returns what goes when the stored object is deleted, with what its controller has made of it, and
// `binding`, which may be null. The pods of a Job that ended are known from its status only: they
// are counted as objects still.
std::vector<Piece> GoneWith(const Value& stored, const std::optional<Made>& made,
                            const Value& binding) {
  std::vector<Piece> gone{{.object = stored}};
  if (!binding.IsNull()) gone.push_back({.object = binding});
  if (made) {
    for (const Value& revision : made->revisions) gone.push_back({.object = revision});
    for (const Value& pod : made->pods) {
      for (Value& object : WithClaims(pod, *made)) gone.push_back({.object = std::move(object)});
    }
  }
  const std::int64_t ended =
      NumberAt(stored, {"status", "succeeded"}, 0) + NumberAt(stored, {"status", "failed"}, 0);
  const Value* pod_template = stored.At({"spec", "template"});
  if (Is(stored, kJob) && pod_template != nullptr && ended > 0) {
    Value pod = PodFromTemplate(*pod_template, api::Namespace(stored), "…");
    pod.Make({"status", "phase"}) = "Succeeded";
    gone.push_back({.object = std::move(pod), .count = ended});
  }
  for (Piece& piece : gone) {
    piece.gone = true;
    piece.of = NameOf(stored);
    piece.role = {"the last hook", "Helm"};
  }
  return gone;
}

// Helm deletes the hook of the last release, and creates it again.
base::Result<Expansion> ExpandHook(const Value& object, const Value& stored,
                                   const Surroundings& surroundings,
                                   const std::optional<Made>& made, const Value& binding) {
  auto expansion = Expand(object, surroundings);
  if (!expansion) return expansion;
  std::vector<Piece> pieces = GoneWith(stored, made, binding);
  std::ranges::move(expansion->pieces, std::back_inserter(pieces));
  expansion->pieces = std::move(pieces);
  return expansion;
}

}  // namespace

base::Result<Expansion> ExpandScaling(const Value& stored, const Surroundings& surroundings) {
  Expander expander(stored, surroundings);
  const auto plan = expander.Scaled(PodsOf(stored, surroundings.nodes_for));
  const std::int64_t present = plan ? PresentPods(stored).value_or(0) : 0;
  if (!plan || plan->count <= present) return expander.Take();
  if (Is(stored, kStatefulSet)) expander.AddSetClaims(plan->count);
  if (auto added = expander.AddPods(plan->pod_template, plan->count - present); !added)
    return added.error();
  return expander.Take();
}

base::Result<Expansion> ExpandChange(const Value& object, const Value& stored,
                                     const Surroundings& surroundings,
                                     const std::optional<Made>& made, const Value& binding) {
  if (IsHook(object)) return ExpandHook(object, stored, surroundings, made, binding);
  Expander expander(object, surroundings);
  if (HelmPhaseOf(object) == HelmPhase::kNever) return expander.Take();
  const Value whole = Applied(object, stored);
  expander.AddUpdate(stored, whole);
  expander.AddBinding(whole, binding);
  if (Is(whole, kMachine)) expander.AddMachineParts(whole, stored);
  const Apply apply(object, stored);
  const auto same = [&] {
    return IsContained(SpecOf(object), SpecOf(stored)) && apply.Keeps({"spec"});
  };
  if (Is(object, kCronJob) && !same()) {
    const bool resumed = FlagAt(stored, {"spec", "suspend"}) && !FlagAt(whole, {"spec", "suspend"});
    if (auto added = expander.AddRun(resumed); !added) return added.error();
  }
  if (HasEndpoints(whole) && !HasEndpoints(stored)) expander.AddEndpoints(whole);
  auto before = PodsOf(stored, surroundings.nodes_for);
  auto after =
      expander.Scaled(PodsOf(WithKeptCount(object, stored, apply), surroundings.nodes_for));
  expander.NoteAbout(after);
  if (!before || !after) return expander.Take();
  if (IsUnrolled(object, stored)) {
    if (StaysPaused(apply)) return expander.Take();
    expander.AddBetween(whole);
    auto added = expander.AddPods(after->pod_template, after->count);
    if (!added) return added.error();
    return expander.Take();
  }
  auto ended =
      expander.AddEnded(after->pod_template, after->ended - before->ended, "its completions");
  if (!ended) return ended.error();
  before->count = PresentPods(stored).value_or(before->count);
  if (Is(object, kStatefulSet)) expander.AddSetClaims(after->count);
  const Change change = ChangeOf(std::move(*before), std::move(*after), whole, apply);
  auto added = AddChange(whole, change, made, expander);
  if (!added) return added.error();
  return expander.Take();
}

}  // namespace inspect
