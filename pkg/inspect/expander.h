#pragma once

// Collects what a manifest creates. Only for workload.cc and workload_change.cc. Pure; one thread.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pkg/inspect/workload.h"

namespace inspect {

class Expander {
 public:
  // Both must outlive it.
  Expander(const json::Value& object, const Surroundings& surroundings);

  Expansion Take() { return std::move(expansion_); }
  // Lets the pods of a hook of Helm end, and the hook itself with its phase if it is deleted then.
  void EndHook();
  void Note(const std::string& text);
  // Notes what is not counted.
  void NoteUncounted(const std::string& text);
  // Adds Karmada's ResourceBinding of the object, which is complete. `stored` is the present one;
  // null if there is none.
  void AddBinding(const json::Value& whole, const json::Value& stored = {});
  // Adds what ironcore makes of the ephemeral parts of a machine that the `stored` one lacks.
  void AddMachineParts(const json::Value& machine, const json::Value& stored = {});

  // `role`: what it is to the object of the manifest.
  void Add(json::Value object, std::int64_t count = 1, Role role = {});
  // Adds new pods from a template, with their claims. `by` tells what decides how many; "": as
  // usual for the kind. Errors: kMalformed; kInvalidArgument if a needed ResourceClaimTemplate is
  // missing.
  base::Result<void> AddPods(const json::Value& pod_template, std::int64_t count,
                             const std::string& by = "");
  // Adds pods that have ended, but stay, with their volume claims. Errors: the same.
  base::Result<void> AddEnded(const json::Value& pod_template, std::int64_t count,
                              const std::string& by);
  // Adds the object of the manifest itself, if it is new. Errors: the same.
  base::Result<void> AddItself();
  // Adds the change of the stored object to `whole`.
  void AddUpdate(const json::Value& stored, const json::Value& whole);
  // Adds the claims of a StatefulSet's replicas. Claims of removed replicas stay, and are used
  // again.
  void AddSetClaims(std::int64_t replicas);
  // Adds the objects between the object, which is complete, and its pods, such as a ReplicaSet.
  void AddBetween(const json::Value& whole);
  // Adds what one run of a CronJob creates, and the finished runs that a new one will keep. Errors:
  // the same.
  base::Result<void> AddRun(bool is_new);
  // Adds the objects that lead from a Service to its pods.
  void AddEndpoints(const json::Value& service);
  // Adds new pods that take the place of old ones: Rollout. Errors: the same.
  base::Result<void> AddRollout(const json::Value& pod_template, std::int64_t fresh,
                                std::vector<OldPod> old, std::int64_t spare, std::int64_t surge);
  // Returns pods of a template, as they would be admitted now. Errors: the same.
  base::Result<OldPod> Assumed(const json::Value& pod_template, std::int64_t count);

  // Returns the plan with at least the pods that an autoscaler makes.
  std::optional<PodPlan> Scaled(std::optional<PodPlan> plan);
  // Notes what is not known about the object's pods.
  void NoteAbout(const std::optional<PodPlan>& plan);

 private:
  Piece NewPiece(json::Value object, std::int64_t count) const;
  // Returns a pod from a template, as it would be admitted now. Errors: kMalformed.
  base::Result<json::Value> NewPod(const json::Value& pod_template) const;
  // Returns such a pod and the claims that are created with it, the pod last.
  base::Result<std::vector<json::Value>> PodWithClaims(const json::Value& pod_template) const;
  // Returns the claims that are created with a pod.
  base::Result<std::vector<json::Value>> ClaimsOf(const json::Value& pod) const;

  const json::Value& object_;
  const Surroundings& surroundings_;
  ObjectName of_;
  std::vector<std::string> template_refusals_;  // why the object is refused because of its template
  std::string pods_by_;                         // what decides how many pods there are
  Expansion expansion_;
};

}  // namespace inspect
