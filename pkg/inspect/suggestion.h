#pragma once

// A quota for what is used now. Pure; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "pkg/quota/resource_list.h"

namespace inspect {

// The names that a suggestion may have.
std::vector<std::string> SuggestedNames();

// "20%", "0.2" → 20. Errors: kInvalidArgument for what is no share between 0 and 10 times.
base::Result<int> ParseHeadroom(std::string_view text);

// `used` and so many percent more, rounded up to a number that people would write: whole objects,
// tenths of a CPU or whole ones, 64Mi or whole Gi.
quota::Quantity WithHeadroom(std::string_view name, const quota::Quantity& used, int percent);

// The manifest of a ResourceQuota, YAML; names of which nothing is used are left out.
std::string SuggestionText(const std::string& ns, const quota::ResourceList& used, int percent);

}  // namespace inspect
