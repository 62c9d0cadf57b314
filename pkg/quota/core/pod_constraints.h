#pragma once

// What a pod must specify to be admitted under a quota (kubernetes v1.36.3,
// pkg/quota/v1/evaluator/core/pods.go, Constraints). A pure function; any thread.

#include <string>
#include <vector>

#include "pkg/json/value.h"

namespace quota::core {

// Returns "must specify cpu for: a,b; memory for: c", or "" if none of `names` is missing. Only cpu
// and memory can be required, with the prefix requests. or limits. or without. Reads the names and
// resources of containers and init containers, and spec.resources.
std::string MissingFromPod(const json::Value& pod, const std::vector<std::string>& names);

}  // namespace quota::core
