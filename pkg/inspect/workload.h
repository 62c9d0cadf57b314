#pragma once

// What applying a manifest creates: the object itself, and what controllers create for it:
// ReplicaSets, Jobs, pods, claims. A kind that is not known here counts as the object alone; if it
// looks like a workload, a note says so. Pure; any thread.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pkg/inspect/admitted.h"
#include "pkg/inspect/owners.h"
#include "pkg/inspect/pod_plan.h"

namespace inspect {

// Equal objects to create. A negative count: to delete.
struct Piece {
  json::Value object;  // whole, as it is stored after admission
  std::int64_t count = 1;
  // The count at the beginning of a rollout, if it differs: new pods come before old ones go.
  std::optional<std::int64_t> first = {};
  std::optional<json::Value> stored = {};  // of an update
  ObjectName of = {};                      // the manifest's object, which makes it
  std::vector<std::string> refusals = {};  // why a new one is refused, whatever quotas have free
};

struct Expansion {
  std::vector<Piece> pieces;
  std::vector<std::string> notes;  // for people: what is assumed, what is not known
};

// What must be known of the cluster.
struct Surroundings {
  Defaults defaults;
  NodeCounter nodes_for;
  std::set<std::string> claims;  // names of the namespace's PersistentVolumeClaims
};

// All that creating the object creates in its namespace. Errors: kMalformed.
base::Result<Expansion> Expand(const json::Value& object, const Surroundings& surroundings);

// All that applying the object over the `stored` one creates and deletes, at the moment of a
// rollout that needs the most. `stored` is whole, as the server has it.
base::Result<Expansion> ExpandChange(const json::Value& object, const json::Value& stored,
                                     const Surroundings& surroundings);

}  // namespace inspect
