#pragma once

// How many pods the controller of an object wants, and what they look like. Pure; any thread.

#include <cstdint>
#include <functional>
#include <optional>

#include "pkg/json/value.h"

namespace inspect {

// How many nodes pods with this spec would run on, as a DaemonSet's. Null: not known.
using NodeCounter = std::function<std::int64_t(const json::Value& pod_spec)>;

// The template of the pods that the object's controller creates, and how many at once. nullopt: the
// kind creates no pods, or is not known.
struct PodPlan {
  json::Value pod_template;
  std::int64_t count = 0;
};
std::optional<PodPlan> PodsOf(const json::Value& object, const NodeCounter& nodes_for);
// The same, also for other kinds that have a pod template, as most kinds of operators have. For a
// CronJob: of one run.
std::optional<PodPlan> PodsOfAny(const json::Value& object, const NodeCounter& nodes_for);

// The number of pods that exist, by the object's status: fewer than it wants if a quota refused
// some. nullopt: it has no status yet.
std::optional<std::int64_t> PresentPods(const json::Value& stored);

// How many pods a rollout has beyond those that are wanted.
std::int64_t SurgeOf(const json::Value& object, std::int64_t replicas);
// True if pods that are there are replaced when the template changes.
bool ReplacesPods(const json::Value& object);

}  // namespace inspect
