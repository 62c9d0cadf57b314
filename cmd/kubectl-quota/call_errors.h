#pragma once

// Sentences about wrong calls for users, who do not know the parser. Pure; any thread.

#include <string>
#include <string_view>

namespace kubectl_quota {

// Returns the parser's error as a sentence: "--dry-run must be none, client or server, not maybe",
// "--context needs a value". Other errors stay as they are.
std::string SentenceOf(std::string_view error);

}  // namespace kubectl_quota
