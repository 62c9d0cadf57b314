#pragma once

// Computes how many pods the controller of an object creates, and their template. Pure; any thread.

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "pkg/json/value.h"

namespace inspect {

// Returns the number of nodes on which a DaemonSet runs pods with this spec. Null: unknown.
using NodeCounter = std::function<std::int64_t(const json::Value& pod_spec)>;

// The template of the pods that the object's controller creates, and how many at once. nullopt: the
// kind creates no pods, or is not known.
struct PodPlan {
  json::Value pod_template;
  std::int64_t count = 0;
  // Pods of a Job that will have ended when the last `count` of them run. They stay until the Job
  // is deleted.
  std::int64_t ended = 0;
};
std::optional<PodPlan> PodsOf(const json::Value& object, const NodeCounter& nodes_for);
// Like PodsOf(), also for other kinds with a pod template, such as kinds of operators. For a
// CronJob: the pods of one run.
std::optional<PodPlan> PodsOfAny(const json::Value& object, const NodeCounter& nodes_for);

// Returns the number of existing pods from the object's status: fewer than wanted if a quota
// refused some. nullopt: there is no status yet.
std::optional<std::int64_t> PresentPods(const json::Value& stored);

// Returns by how many pods a rollout may exceed the wanted number.
std::int64_t SurgeOf(const json::Value& object, std::int64_t replicas);
// True if all old pods go before new ones are created.
bool Recreates(const json::Value& object);
// Returns how many of the `present` pods have the newest template, if a rollout creates new pods
// before it deletes old ones; otherwise all of them.
std::int64_t NewestPods(const json::Value& stored, std::int64_t present);
// Returns how many replicas of a StatefulSet, from the first ordinal on, keep their template in a
// rollout (kubernetes v1.36.3, pkg/controller/statefulset/stateful_set_control.go).
std::int64_t PartitionOf(const json::Value& object);
// Returns the number of a StatefulSet's pod, counted from 0 whatever its first ordinal is; nullopt
// if the name has none.
std::optional<std::int64_t> ReplicaOf(const json::Value& stateful_set, std::string_view pod_name);
// True if pods that are there are replaced when the template changes.
bool ReplacesPods(const json::Value& object);

}  // namespace inspect
