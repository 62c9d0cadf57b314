#pragma once

// Finds what a mistyped word may mean. Pure; any thread.

#include <string>
#include <string_view>
#include <vector>

namespace kubectl_quota {

// Returns `; did you mean "check"?` with the known word that is at most two letters (a third of a
// short word) off; "" if there is none.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& known);

}  // namespace kubectl_quota
