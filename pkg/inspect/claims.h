#pragma once

// The claims that controllers create for pods: volume claims of StatefulSets and of ephemeral
// volumes, and device claims from ResourceClaimTemplates. Pure; any thread.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "pkg/inspect/admitted.h"

namespace inspect {

// ResourceClaimTemplates of a namespace by name.
using ClaimTemplates = std::map<std::string, json::Value>;

// PodGroups of a namespace by name. A claim that a group and its pods have alike is created once,
// for the group (kubernetes v1.36.3, feature gate DRAWorkloadResourceClaims).
using PodGroups = std::map<std::string, json::Value>;

// Returns the names of the ResourceClaimTemplates that the object's pods, or a PodGroup, refer to.
std::set<std::string> ClaimTemplatesOf(const json::Value& object);
// Returns the name of the PodGroup of the object's pods; "" if they have none.
std::string PodGroupOf(const json::Value& object);

// Return the claims that are created for each such pod. Errors: kInvalidArgument if a template is
// missing. `pod` may also be a PodGroup.
std::vector<json::Value> VolumeClaimsOf(const json::Value& pod, const Defaults& defaults);
base::Result<std::vector<json::Value>> DeviceClaimsOf(const json::Value& pod,
                                                      const ClaimTemplates& templates,
                                                      const PodGroups& groups = {});

// The claims of all replicas of a StatefulSet from one of its templates.
struct SetClaims {
  [[nodiscard]] std::int64_t Present() const { return static_cast<std::int64_t>(present.size()); }
  json::Value claim;
  std::vector<std::string> present = {};  // those that exist already
};
// Returns them for the ordinals of `replicas` replicas. `present` are the claims of the namespace.
std::vector<SetClaims> SetClaimsOf(const json::Value& stateful_set, std::int64_t replicas,
                                   const std::set<std::string>& present, const Defaults& defaults);

}  // namespace inspect
