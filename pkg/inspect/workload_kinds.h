#pragma once

// The kinds whose controllers create pods or other objects, and how to read their fields. Pure; any
// thread.

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/json/value.h"

namespace inspect {

struct WorkloadKind {
  std::string_view kind;
  std::string_view group;
};
inline constexpr WorkloadKind kDeployment{"Deployment", "apps"};
inline constexpr WorkloadKind kReplicaSet{"ReplicaSet", "apps"};
inline constexpr WorkloadKind kStatefulSet{"StatefulSet", "apps"};
inline constexpr WorkloadKind kDaemonSet{"DaemonSet", "apps"};
inline constexpr WorkloadKind kJob{"Job", "batch"};
inline constexpr WorkloadKind kCronJob{"CronJob", "batch"};
inline constexpr WorkloadKind kReplicationController{"ReplicationController", ""};
inline constexpr WorkloadKind kPod{"Pod", ""};
inline constexpr WorkloadKind kService{"Service", ""};
inline constexpr WorkloadKind kEndpoints{"Endpoints", ""};
inline constexpr WorkloadKind kClaim{"PersistentVolumeClaim", ""};
inline constexpr WorkloadKind kPodGroup{"PodGroup", "scheduling.k8s.io"};
inline constexpr WorkloadKind kMachine{"Machine", "compute.ironcore.dev"};

bool Is(const json::Value& object, const WorkloadKind& kind);

// Returns the number at the path; `fallback` if it is absent or not a number.
std::int64_t NumberAt(const json::Value& object, std::initializer_list<std::string_view> path,
                      std::int64_t fallback);
// True if the field at the path is true.
bool FlagAt(const json::Value& object, std::initializer_list<std::string_view> path);

// Returns the spec of the object's pods, or of the pod itself; nullptr if there is none.
const json::Value* PodSpecOf(const json::Value& object);

// True if the Service selects pods.
bool HasSelector(const json::Value& service);
// True if controllers make Endpoints and EndpointSlices for the Service.
bool HasEndpoints(const json::Value& service);

// Returns an object that a controller makes for another one, without a spec.
json::Value MadeBy(const json::Value& maker, std::string_view api_version, std::string_view kind,
                   const std::string& name);

// Returns what ironcore makes of the ephemeral parts of a machine, which may be null: volumes and
// network interfaces (ironcore v0.5.0, internal/controllers/compute).
std::vector<json::Value> MachineParts(const json::Value& machine);

// Returns how many finished Jobs a CronJob keeps.
std::int64_t HistoryOf(const json::Value& cron_job);

// Returns the Job that a CronJob creates.
json::Value JobOf(const json::Value& cron_job);

}  // namespace inspect
