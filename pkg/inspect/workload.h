#pragma once

// What a manifest brings about: the object itself, and what controllers make of it — ReplicaSets,
// Jobs, pods, claims. Without a list of all that controllers do: what is not known here counts as
// the object that it is, and a note says so where it looks like more. Pure; any thread.

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pkg/inspect/admitted.h"
#include "pkg/inspect/owners.h"

namespace inspect {

// So many equal objects more than there are. Fewer, with a negative number.
struct Piece {
  json::Value object;  // whole, as it is stored after admission
  std::int64_t count = 1;
  // At the beginning of a rollout, where that is another number than at its worst end: what is new
  // comes before anything goes.
  std::optional<std::int64_t> first = {};
  std::optional<json::Value> stored = {};  // of an update
  ObjectName of = {};                      // the manifest's object, which makes it
  std::vector<std::string> refusals = {};  // of a new one, whatever quotas have free
};

struct Expansion {
  std::vector<Piece> pieces;
  std::vector<std::string> notes;  // for people: what is assumed, what is not known
};

// What has to be known beside the manifest.
struct Surroundings {
  Defaults defaults;
  // How many nodes pods with this spec would run on, as a DaemonSet's; null: not known.
  std::function<std::int64_t(const json::Value& pod_spec)> nodes_for;
  std::set<std::string> claims;  // names of the namespace's PersistentVolumeClaims
};

// The template of the pods that the object makes, and how many at once; nullopt for what makes
// none, or none that is known of.
struct PodPlan {
  json::Value pod_template;
  std::int64_t count = 0;
};
std::optional<PodPlan> PodsOf(const json::Value& object, const Surroundings& surroundings);
// The same for kinds that are not known by name but have a pod template, as most that operators
// bring; of a CronJob, for one run.
std::optional<PodPlan> PodsOfAny(const json::Value& object, const Surroundings& surroundings);

// The pods that a stored object has by its own status: fewer than are wanted where a quota refused
// some. nullopt: nobody has written a status.
std::optional<std::int64_t> PresentPods(const json::Value& stored);

// All that creating the object brings about, in its namespace. Errors: kMalformed.
base::Result<Expansion> Expand(const json::Value& object, const Surroundings& surroundings);

// All that applying the object over the `stored` one brings about in addition, at the worst moment
// of a rollout. `stored` is whole, as the server has it.
base::Result<Expansion> ExpandChange(const json::Value& object, const json::Value& stored,
                                     const Surroundings& surroundings);

// True if every field of `part` is in `whole`, quantities by value.
bool IsContained(const json::Value& part, const json::Value& whole);

}  // namespace inspect
