#pragma once

// The members of a ClusterQuota's status that other quotas do not have: available, namespaces,
// children, largest, conditions, observedGeneration. Pure; any thread.

#include <string>
#include <vector>

#include "pkg/json/value.h"

namespace quota {

// The names of these members.
const std::vector<std::string>& FurtherStatusMembers();

// Those that the status of `object` has.
json::Object FurtherStatusOf(const json::Value& object);

// The merge patch that makes `stored` have the members of `desired`: those that differ, with null
// for names of an object that go. Members that `desired` does not name stay as they are.
json::Object FurtherDifference(const json::Object& stored, const json::Object& desired);

}  // namespace quota
