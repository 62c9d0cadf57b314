#pragma once

// Suggests a quota for the current usage. Pure; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "pkg/quota/resource_list.h"

namespace inspect {

// Returns the names that a suggestion may have.
std::vector<std::string> SuggestedNames();

// "20%", "0.2" → 20. Errors: kInvalidArgument for a share outside of 0 to 10.
base::Result<int> ParseHeadroom(std::string_view text);

// Returns `used` plus this percentage, rounded up to a round number: whole objects, tenths of a CPU
// or whole ones, 64Mi or whole Gi.
quota::Quantity WithHeadroom(std::string_view name, const quota::Quantity& used, int percent);

// Returns the YAML of a ResourceQuota. Names without usage are left out. `unknown` is what could
// not be seen.
std::string SuggestionText(const std::string& ns, const quota::ResourceList& used, int percent,
                           const std::vector<std::string>& unknown = {});

}  // namespace inspect
