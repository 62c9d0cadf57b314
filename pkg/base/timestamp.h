#pragma once

// Times as they stand in API objects: RFC 3339, to the second or with a fraction, in UTC or with an
// offset. Pure functions; any thread.

#include <optional>
#include <string>
#include <string_view>

#include "pkg/base/clock.h"

namespace base {

// "2024-05-01T10:00:00Z", "2024-05-01T12:00:00.25+02:00". nullopt for anything else, and for years
// that a WallTime does not reach (before 1678, after 2261). A leap second is the second after it.
std::optional<WallTime> ParseTimestamp(std::string_view text);

// To the second, in UTC, as metav1.Time prints: "2024-05-01T10:00:00Z".
std::string FormatTimestamp(WallTime time);

// To the microsecond, in UTC, as metav1.MicroTime prints: "2024-05-01T10:00:00.250000Z".
std::string FormatMicroTimestamp(WallTime time);

}  // namespace base
