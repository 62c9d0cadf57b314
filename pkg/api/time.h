#pragma once

// Timestamps of API objects (RFC 3339). Values; any thread.

#include <string>
#include <string_view>

#include "pkg/base/clock.h"
#include "pkg/base/error.h"

namespace api {

// metav1.Time: whole seconds, UTC, "2026-01-02T03:04:05Z". Fractions are cut off.
std::string FormatTime(base::WallTime time);
// metav1.MicroTime: six digits, "2026-01-02T03:04:05.000000Z".
std::string FormatMicroTime(base::WallTime time);

// Parses either form, with any number of fractional digits and any offset ("+02:00"). Errors:
// kMalformed, naming the text, also for times outside of 64 bits of nanoseconds (before 1678, after
// 2261).
base::Result<base::WallTime> ParseTime(std::string_view text);

}  // namespace api
