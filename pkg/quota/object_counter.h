#pragma once

// Evaluators that count objects and look at nothing inside them (apiserver v0.36.3,
// pkg/quota/v1/generic/evaluator.go). Pure functions; any thread.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/quota/evaluator.h"

namespace quota {

// Each object is one under count/<resource>.<group> and under every alias. Its scopes are none, so
// a quota with any scope never counts it.
Evaluator CountObjects(api::GroupResource resource, const std::vector<std::string>& aliases);

// As QuotaApi::object_counter and QuotaApi::counted_resource, for a quota API that counts every
// kind but those that Kubernetes never counts: they are no lasting objects, or too short-lived.
std::optional<Evaluator> CountAnyKind(const api::GroupResource& resource);
std::optional<api::GroupResource> AnyCountedKind(std::string_view name);

}  // namespace quota
