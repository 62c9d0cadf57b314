#pragma once

// ResourceQuota: validation and warnings (kubernetes v1.36.3,
// pkg/registry/core/resourcequota/strategy.go and pkg/apis/core/validation). Any thread.

#include <string>
#include <string_view>
#include <vector>

#include "cmd/sandbox-apiserver/validation.h"
#include "pkg/json/value.h"

namespace sandbox {

// `old` is nullptr for a create. For the subresource "status" only the status is validated.
FieldErrors ValidateQuota(const json::Value& quota, const json::Value* old,
                          std::string_view subresource);
std::vector<std::string> QuotaWarnings(const json::Value& quota);

}  // namespace sandbox
