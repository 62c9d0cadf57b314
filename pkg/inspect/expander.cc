#include "pkg/inspect/expander.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/inspect/custom_kinds.h"
#include "pkg/inspect/helm.h"
#include "pkg/inspect/manifest.h"
#include "pkg/inspect/workload_kinds.h"

namespace inspect {
namespace {

using json::Value;

// Returns the reasons to refuse a workload because of its pod template. The server validates it
// with the object, so also if no pods are created.
std::vector<std::string> TemplateRefusals(const Value& object) {
  const bool run = Is(object, kCronJob);
  const bool known = run || Is(object, kJob) || PodsOf(object, [](const Value&) { return 0; });
  const Value* pod_template = run ? object.At({"spec", "jobTemplate", "spec", "template"})
                                  : object.At({"spec", "template"});
  if (!known || pod_template == nullptr) return {};
  return RefusalsOfTemplate(PodFromTemplate(*pod_template, "", ""),
                            run ? "spec.jobTemplate.spec.template.spec" : "spec.template.spec");
}

}  // namespace

Expander::Expander(const Value& object, const Surroundings& surroundings)
    : object_(object),
      surroundings_(surroundings),
      of_(NameOf(object)),
      pods_by_(Is(object, kJob)         ? "its parallelism"
               : Is(object, kDaemonSet) ? "its nodes"
                                        : "its replicas") {}

void Expander::Note(const std::string& text) {
  expansion_.notes.push_back(of_.ToString() + ": " + text);
}

void Expander::EndHook() {
  std::vector<Piece> left;
  const bool ends = Is(object_, kJob) || Is(object_, kPod);
  for (Piece& piece : expansion_.pieces) {
    piece.passing = ends && Is(piece.object, kPod);
    if (!piece.passing) continue;
    left.push_back(piece);
    left.back().passing = false;
    left.back().object.Make({"status", "phase"}) = "Succeeded";
  }
  std::ranges::move(left, std::back_inserter(expansion_.pieces));
  if (!IsDeletedAfterHook(object_)) return;
  std::ranges::remove_copy_if(expansion_.pieces, std::back_inserter(expansion_.ending),
                              &Piece::passing);
  for (Piece& piece : expansion_.ending) piece.gone = true;
}

void Expander::NoteUncounted(const std::string& text) {
  Note(text);
  expansion_.uncounted.push_back(expansion_.notes.back());
}

void Expander::AddBinding(const Value& whole, const Value& stored) {
  if (!surroundings_.propagation) return;
  Bound bound = BindingOf(whole, *surroundings_.propagation, stored);
  const bool told = bound.binding.IsNull() || PodSpecOf(whole) != nullptr;
  if (bound.unknown.empty() && !told && MayMakeMore(whole)) {
    bound.unknown = "what Karmada's interpreter reads of it is not known";
  }
  if (!bound.unknown.empty()) {
    Note(bound.unknown);
    expansion_.unpropagated.push_back(expansion_.notes.back());
  }
  if (bound.binding.IsNull()) return;
  if (stored.IsNull()) {
    Add(std::move(bound.binding), 1, {"ResourceBinding", "Karmada"});
  } else {
    expansion_.pieces.push_back({.object = std::move(bound.binding),
                                 .stored = stored,
                                 .of = of_,
                                 .role = {"ResourceBinding", "Karmada"}});
  }
}

void Expander::AddMachineParts(const Value& machine, const Value& stored) {
  for (Value& part : MachineParts(machine)) {
    const auto before = MachineParts(stored);
    const bool there = std::ranges::any_of(
        before, [&](const Value& other) { return NameOf(other) == NameOf(part); });
    const std::string kind(api::Kind(part));
    if (!there) Add(std::move(part), 1, {kind, "its ephemeral parts"});
  }
}

Piece Expander::NewPiece(Value object, std::int64_t count) const {
  std::vector<std::string> refusals;
  if (!surroundings_.closed.empty()) {
    refusals = {surroundings_.closed};
  } else if (!template_refusals_.empty()) {
    refusals = template_refusals_;
  } else {
    refusals = RefusalsAtAdmission(object, surroundings_.defaults);
  }
  return {.object = std::move(object), .count = count, .of = of_, .refusals = std::move(refusals)};
}

void Expander::Add(Value object, std::int64_t count, Role role) {
  if (count <= 0) return;
  expansion_.pieces.push_back(NewPiece(std::move(object), count));
  expansion_.pieces.back().role = std::move(role);
}

base::Result<std::vector<Value>> Expander::ClaimsOf(const Value& pod) const {
  std::vector<Value> claims = VolumeClaimsOf(pod, surroundings_.defaults);
  if (!surroundings_.claim_templates) return claims;
  auto devices = DeviceClaimsOf(pod, *surroundings_.claim_templates, surroundings_.pod_groups);
  if (!devices) return devices.error().Wrap(of_.ToString());
  std::ranges::move(*devices, std::back_inserter(claims));
  return claims;
}

base::Result<Value> Expander::NewPod(const Value& pod_template) const {
  const std::string name = std::string(api::Name(object_)) + "-…";
  auto pod = AdmittedPod(PodFromTemplate(pod_template, api::Namespace(object_), name),
                         surroundings_.defaults);
  if (!pod) return pod.error().Wrap(of_.ToString());
  return pod;
}

base::Result<std::vector<Value>> Expander::PodWithClaims(const Value& pod_template) const {
  auto pod = NewPod(pod_template);
  if (!pod) return pod.error();
  auto objects = ClaimsOf(*pod);
  if (objects) objects->push_back(std::move(*pod));
  return objects;
}

base::Result<void> Expander::AddPods(const Value& pod_template, std::int64_t count,
                                     const std::string& by) {
  if (count <= 0) return {};
  auto objects = PodWithClaims(pod_template);
  if (!objects) return objects.error();
  for (Value& object : *objects) {
    Role role = Is(object, kPod) ? Role{"pod", by.empty() ? pods_by_ : by}
                                 : Role{std::string(api::Kind(object)), "its pods"};
    Add(std::move(object), count, std::move(role));
  }
  return {};
}

base::Result<void> Expander::AddEnded(const Value& pod_template, std::int64_t count,
                                      const std::string& by) {
  if (count <= 0) return {};
  auto pod = NewPod(pod_template);
  if (!pod) return pod.error();
  // Device claims are deleted when the pod ends.
  for (Value& claim : VolumeClaimsOf(*pod, surroundings_.defaults)) {
    Add(std::move(claim), count, {"PersistentVolumeClaim", "its pods"});
  }
  pod->Make({"status", "phase"}) = "Succeeded";  // such pods are objects, but use nothing else
  Add(std::move(*pod), count, {"pod", by});
  return {};
}

base::Result<void> Expander::AddItself() {
  Value whole = object_;
  template_refusals_ = TemplateRefusals(whole);
  if (Is(whole, kPod)) {
    auto pod = AdmittedPod(std::move(whole), surroundings_.defaults);
    if (!pod) return pod.error().Wrap(of_.ToString());
    whole = std::move(*pod);
    auto claims = ClaimsOf(whole);
    if (!claims) return claims.error();
    for (Value& claim : *claims) {
      const std::string kind(api::Kind(claim));
      Add(std::move(claim), 1, {kind, "its spec"});
    }
  } else if (Is(whole, kClaim)) {
    whole = AdmittedClaim(std::move(whole), surroundings_.defaults);
  } else if (Is(whole, kPodGroup)) {
    auto claims = ClaimsOf(whole);
    if (!claims) return claims.error();
    if (!claims->empty()) {
      Note("its claims are counted once for all its pods (feature gate DRAWorkloadResourceClaims)");
    }
    for (Value& claim : *claims) Add(std::move(claim), 1, {"ResourceClaim", "its spec"});
  }
  Add(std::move(whole));
  return {};
}

// Defaults apply at creation only, so an update adds none.
void Expander::AddUpdate(const Value& stored, const Value& whole) {
  template_refusals_ = TemplateRefusals(whole);
  // Bounds of LimitRanges are those of new objects, and of claims that change (kubernetes v1.36.3,
  // SupportsAttributes() in plugin/pkg/admission/limitranger/admission.go).
  const bool bounded = Is(whole, kClaim) && whole != stored;
  std::vector<std::string> refusals =
      RefusalsOf(whole, bounded ? surroundings_.defaults.bounds : std::vector<Bounds>());
  std::ranges::copy(template_refusals_, std::back_inserter(refusals));
  expansion_.pieces.push_back({.object = whole,
                               .stored = stored,
                               .of = of_,
                               .refusals = std::move(refusals),
                               .role = {"change", "the manifest"}});
}

void Expander::AddSetClaims(std::int64_t replicas) {
  for (SetClaims& claims :
       SetClaimsOf(object_, replicas, surroundings_.claims, surroundings_.defaults)) {
    Add(std::move(claims.claim), replicas - claims.Present(),
        {"PersistentVolumeClaim", "its volumeClaimTemplates"});
  }
}

void Expander::AddBetween(const Value& whole) {
  const std::string name = std::string(api::Name(whole)) + "-…";
  if (Is(whole, kDeployment) && !FlagAt(whole, {"spec", "paused"})) {
    Add(MadeBy(whole, "apps/v1", "ReplicaSet", name), 1, {"ReplicaSet", "its template"});
  }
  if (Is(whole, kStatefulSet) || Is(whole, kDaemonSet)) {
    Add(MadeBy(whole, "apps/v1", "ControllerRevision", name), 1,
        {"ControllerRevision", "its template"});
  }
}

base::Result<void> Expander::AddRun(bool is_new) {
  if (FlagAt(object_, {"spec", "suspend"})) return {};
  const Value job = JobOf(object_);
  const std::int64_t finished = is_new ? HistoryOf(object_) : 0;
  Add(job, 1, {"Job", "one run"});
  Add(job, finished, {"Job", "its history limits"});
  Note("counted with one run at a time");
  const auto plan = PodsOf(job, surroundings_.nodes_for);
  if (!plan) {
    NoteUncounted("the pods of its Jobs are not counted: " +
                  std::string(job.StringAt({"spec", "managedBy"})) + " makes them");
    return {};
  }
  if (auto added = AddPods(plan->pod_template, plan->count, "one run"); !added) return added;
  if (auto added = AddEnded(plan->pod_template, plan->ended, "one run"); !added) return added;
  return AddEnded(plan->pod_template,
                  finished * NumberAt(job, {"spec", "completions"}, plan->count),
                  "its history limits");
}

void Expander::AddEndpoints(const Value& service) {
  const std::string name(api::Name(service));
  Add(MadeBy(service, "v1", "Endpoints", name), 1, {"Endpoints", kBySelector});
  AddSlices(service, SlicesFor(service, surroundings_), kBySelector, expansion_);
}

base::Result<void> Expander::AddRollout(const Value& pod_template, std::int64_t fresh,
                                        std::vector<OldPod> old, std::int64_t spare,
                                        std::int64_t surge) {
  if (old.empty() || fresh <= 0) return AddPods(pod_template, fresh);
  auto objects = PodWithClaims(pod_template);
  if (!objects) return objects.error();
  Rollout rollout{
      .of = of_, .each = {}, .fresh = fresh, .old = std::move(old), .spare = spare, .surge = surge};
  for (Value& object : *objects) rollout.each.push_back(NewPiece(std::move(object), 1));
  expansion_.rollouts.push_back(std::move(rollout));
  return {};
}

base::Result<OldPod> Expander::Assumed(const Value& pod_template, std::int64_t count) {
  auto pod = NewPod(pod_template);
  if (!pod) return pod.error();
  // A template that is gone already tells nothing of the claims from it.
  auto claims = ClaimsOf(*pod);
  OldPod old{.objects = claims ? std::move(*claims) : VolumeClaimsOf(*pod, surroundings_.defaults),
             .count = count};
  old.objects.push_back(std::move(*pod));
  return old;
}

std::optional<PodPlan> Expander::Scaled(std::optional<PodPlan> plan) {
  const Scaling* scaling = surroundings_.autoscalers.Of(object_);
  if (!plan || plan->count == 0 || scaling == nullptr) return plan;
  if (scaling->least > plan->count) {
    plan->count = scaling->least;
    pods_by_ = scaling->by.ToString();
  }
  Note("counted with " + std::to_string(plan->count) + " pods; " + scaling->by.ToString() +
       " may make it " + std::to_string(scaling->most));
  return plan;
}

void Expander::NoteAbout(const std::optional<PodPlan>& plan) {
  if (Is(object_, kDaemonSet) && !surroundings_.nodes_for) {
    NoteUncounted(
        "its pods are not counted, because the number of nodes is not known: give --nodes");
  }
  const bool known = plan || Is(object_, kPod) || Is(object_, kCronJob);
  if (!known && MayMakeMore(object_)) {
    NoteUncounted("counted as the object that it is; what its controller makes of it is not known");
  }
}

}  // namespace inspect
