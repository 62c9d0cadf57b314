#pragma once

// The members of a ClusterQuota's status that other quotas do not have: summary, available,
// namespaces, children, largest, conditions, observedGeneration. Pure; any thread.

#include <string>
#include <vector>

#include "pkg/json/value.h"
#include "pkg/quota/quota.h"

namespace quota {

// The names of these members.
const std::vector<std::string>& FurtherStatusMembers();

// "pods: 3/10, requests.cpu: 600m/2", like the output of `kubectl get resourcequota`. A name
// without a count has "?".
std::string SummaryOf(const QuotaStatus& status);

// Returns those that the status of `object` has.
json::Object FurtherStatusOf(const json::Value& object);

// Returns the merge patch from `stored` to `desired`. Members of `stored` that `desired` does not
// have are kept. If a member is an object in both, its own members that `desired` does not have are
// removed (null).
json::Object FurtherDifference(const json::Object& stored, const json::Object& desired);

}  // namespace quota
