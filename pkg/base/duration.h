#pragma once

// Durations as in Go and in Kubernetes flags: "5m", "1h30m", "250ms", "1.5s", "0".

#include <chrono>
#include <string>
#include <string_view>

#include "pkg/base/error.h"

namespace base {

// Units ns, us, µs, ms, s, m, h; "0" needs none. Errors: kInvalidArgument, naming the text.
Result<std::chrono::nanoseconds> ParseDuration(std::string_view text);

// As Go prints it: "1h30m0s", "5m0s", "250ms", "0s".
std::string FormatDuration(std::chrono::nanoseconds duration);

}  // namespace base
