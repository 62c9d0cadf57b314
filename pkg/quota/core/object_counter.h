#pragma once

// Evaluators that count objects and look at nothing inside them (kubernetes-resourcequota.md 3.6).
// Pure functions; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "pkg/quota/evaluator.h"

namespace quota::core {

// Each object is one under count/<resource>.<group> and under every alias. Its scopes are none, so
// a quota with any scope never counts it.
Evaluator CountObjects(api::GroupResource resource, std::vector<std::string> aliases);

}  // namespace quota::core
