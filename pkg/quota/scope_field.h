#pragma once

// Scope selectors as in spec.scopeSelector of quotas. Pure functions; any thread.

#include <string_view>

#include "pkg/json/value.h"
#include "pkg/quota/scope.h"

namespace quota {

// "In", "NotIn", "Exists", "DoesNotExist".
std::string_view ToString(ScopeOperator op);

// Returns {"matchExpressions": […]}. An entry of spec.scopes is one with Exists.
json::Object ToJson(const ScopeSelector& selector);

}  // namespace quota
