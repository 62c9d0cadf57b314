#pragma once

// How a measured number stands beside its target in a table. A pure function; any thread.

#include <cstdio>
#include <string>

namespace bench {

// "8.5 (≤ 20)", or "**25.3, missed** (≤ 20)".
inline std::string AtMost(double value, double target, int digits = 1) {
  char text[80];
  const bool missed = value > target;
  std::snprintf(text, sizeof text, missed ? "**%.*f, missed** (≤ %g)" : "%.*f (≤ %g)", digits,
                value, target);
  return text;
}

}  // namespace bench
