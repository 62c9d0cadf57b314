#pragma once

// Expands a manifest into everything that applying it creates: the object itself, and the objects
// of controllers: ReplicaSets, Jobs, pods, claims, volumes of machines, bindings of Karmada. An
// unknown kind counts as one object; if it looks like a workload, a note says so. Pure; any thread.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pkg/inspect/admitted.h"
#include "pkg/inspect/autoscaling.h"
#include "pkg/inspect/claims.h"
#include "pkg/inspect/made.h"
#include "pkg/inspect/owners.h"
#include "pkg/inspect/pod_plan.h"
#include "pkg/inspect/propagation.h"
#include "pkg/inspect/rollout.h"

namespace inspect {

struct Expansion {
  std::vector<Piece> pieces;
  std::vector<Piece> ending = {};  // those of them that go when the phase of Helm's hooks ends
  std::vector<Rollout> rollouts = {};
  std::vector<std::string> notes;  // for users: assumptions, and what is unknown
  // Those of the notes that tell of objects that are not counted.
  std::vector<std::string> uncounted = {};
  // The same for objects that only quotas of Karmada count.
  std::vector<std::string> unpropagated = {};
};

// The needed facts about the cluster.
struct Surroundings {
  Defaults defaults;
  NodeCounter nodes_for;
  std::set<std::string> claims;  // names of PersistentVolumeClaims, stored or in the manifests
  // Why the server creates nothing in the namespace, for example because it does not exist; "" if
  // it does.
  std::string closed = {};
  Autoscalers autoscalers = {};
  // The pods of the manifests, AddLabelled(), and stored ones that Services may select.
  struct Labelled {
    json::Value labels;
    std::int64_t count = 0;
    json::Value spec = {};  // tells the numbers of named ports
  };
  std::vector<Labelled> labelled = {};
  // nullopt: no quota limits what is created from them.
  std::optional<ClaimTemplates> claim_templates = {};
  PodGroups pod_groups = {};  // of the manifests, and stored ones that they refer to
  // nullopt: no quota limits ResourceBindings.
  std::optional<Propagation> propagation = {};
};

// Adds the pods of the object, which Services may select, or a PodGroup, or a claim, which a
// StatefulSet may take over. Call when nodes and autoscalers are known.
void AddLabelled(const json::Value& object, Surroundings& surroundings);

// True if the labels have all the wanted ones. False if `wanted` is not an object.
bool HaveLabels(const json::Value& labels, const json::Value& wanted);

// What decides how many EndpointSlices a Service has.
inline constexpr const char* kBySelector = "its selector";
// Returns how many EndpointSlices the pods of a Service need: one for each 100, at least one for
// each family of addresses.
std::int64_t SlicesFor(const json::Value& service, const Surroundings& surroundings);
// Adds `count` EndpointSlices of a Service or Endpoints; none if it is below 1. `by` tells what
// decides how many.
void AddSlices(const json::Value& maker, std::int64_t count, const std::string& by,
               Expansion& expansion);

// Returns everything that creating the object creates in its namespace. Errors: kMalformed;
// kInvalidArgument if a needed ResourceClaimTemplate is missing.
base::Result<Expansion> Expand(const json::Value& object, const Surroundings& surroundings);

// Returns the pods that the object's autoscaler adds to the stored object, and their claims.
// Errors: the same.
base::Result<Expansion> ExpandScaling(const json::Value& stored, const Surroundings& surroundings);

// Returns everything that applying the object over the `stored` one creates and deletes. `stored`
// must be complete. `made` is what its controller has made of it; nullopt: not known, so its pods
// are taken to be like new ones of its stored template, and what a rollout frees is uncounted.
// `binding` is the ResourceBinding that Karmada has made of it; null if there is none. Errors: the
// same.
base::Result<Expansion> ExpandChange(const json::Value& object, const json::Value& stored,
                                     const Surroundings& surroundings,
                                     const std::optional<Made>& made = {},
                                     const json::Value& binding = {});

}  // namespace inspect
