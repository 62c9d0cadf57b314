#pragma once

// A quota as `kubectl describe quota` prints it, for machines without kubectl
// (kubernetes-resourcequota.md 6.2). A value in, text out; any thread.

#include <string>

#include "pkg/json/value.h"

namespace quickstart {

// Rows are the names of status.hard; a missing used prints 0. What is no quantity prints as it
// stands.
std::string DescribeQuota(const json::Value& quota);

}  // namespace quickstart
