#pragma once

// Times from certificates and servers. These may name years that a WallTime cannot hold, such
// as 9999, which stands for "never" in certificates (RFC 5280, 4.1.2.5). Any thread.

#include <algorithm>
#include <cstdint>

#include "pkg/base/clock.h"

namespace base {

// Returns the nearest time between 1970 and 2200, which leaves room for additions and subtractions.
inline WallTime FromUnixTime(std::int64_t seconds) {
  constexpr std::int64_t kYear2200 = 7'258'118'400;
  return WallTime(std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, kYear2200)));
}

}  // namespace base
