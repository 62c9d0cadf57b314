#pragma once

// Quotas as kubectl prints them, for machines without kubectl. A value in, text out; any thread.

#include <string>

#include "pkg/json/value.h"

namespace quickstart {

// As `kubectl describe quota` (kubectl v0.36.3, pkg/describe/describe.go). Rows are the names of
// status.hard; a missing used prints 0. What is no quantity prints as it stands.
std::string DescribeQuota(const json::Value& quota);

// A KarmadaQuota as `kubectl get karmadaquota` prints it, without its age.
std::string ListKarmadaQuota(const json::Value& quota);

// A ResourceQuota of ironcore as its API server has `kubectl get` print it, without its age.
std::string ListIroncoreQuota(const json::Value& quota);

}  // namespace quickstart
