#pragma once

// Evaluators that only count objects (apiserver v0.36.3, pkg/quota/v1/generic/evaluator.go). Pure
// functions; any thread.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/quota/evaluator.h"

namespace quota {

// Each object counts as one under count/<resource>.<group> and under every alias. It has no scopes,
// so a quota with a scope never counts it.
Evaluator CountObjects(api::GroupResource resource, const std::vector<std::string>& aliases);

// For QuotaApi::object_counter and QuotaApi::counted_resource of a quota API that counts every
// kind, except kinds that Kubernetes never counts because their objects are not stored or too
// short-lived.
std::optional<Evaluator> CountAnyKind(const api::GroupResource& resource);
std::optional<api::GroupResource> AnyCountedKind(std::string_view name);

}  // namespace quota
