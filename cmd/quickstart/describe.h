#pragma once

// Prints quotas as kubectl does, for machines without kubectl. Values in, text out; any thread.

#include <string>
#include <vector>

#include "pkg/json/value.h"

namespace quickstart {

// Like `kubectl describe quota` (kubectl v0.36.3, pkg/describe/describe.go). Rows are the names of
// status.hard; a missing used prints 0. A value that is not a quantity prints as it is.
std::string DescribeQuota(const json::Value& quota);

// Prints a KarmadaQuota like `kubectl get karmadaquota`, without its age.
std::string ListKarmadaQuota(const json::Value& quota);

// Prints ironcore's ResourceQuota like `kubectl get` with ironcore's API server, without its age.
std::string ListIroncoreQuota(const json::Value& quota);

// Prints the first two columns of `kubectl get clusterquota`.
std::string ListUsage(const json::Value& quota);

// Prints ClusterQuotas with what they use of pods, a line each.
std::string ListClusterQuotas(const std::vector<json::Value>& quotas);

}  // namespace quickstart
