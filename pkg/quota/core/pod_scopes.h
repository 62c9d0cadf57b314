#pragma once

// The scope attributes of a pod (kubernetes v1.36.3, pkg/quota/v1/evaluator/core/pods.go,
// podMatchesScopeFunc). Pure functions; any thread.

#include <string>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/json/value.h"
#include "pkg/quota/core/pod_resources.h"
#include "pkg/quota/facts.h"

namespace quota::core {

// The scopes that depend on a pod's attributes.
std::vector<std::string> PodScopes();
// The fields that PodAttributes reads, for a projection.
std::vector<std::string> PodScopeFields();

// Sorted. Errors: kMalformed, naming the field.
base::Result<std::vector<Attribute>> PodAttributes(const json::Value& pod,
                                                   const PodResources& resources);

}  // namespace quota::core
