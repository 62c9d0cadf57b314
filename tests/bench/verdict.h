#pragma once

// Prints a measured number with its target for a table. Pure functions; any thread.

#include <cstdio>
#include <string>

namespace bench {

inline std::string BesideTarget(double value, const char* relation, double target, bool missed,
                                int digits) {
  char text[80];
  std::snprintf(text, sizeof text, missed ? "**%.*f, missed** (%s %g)" : "%.*f (%s %g)", digits,
                value, relation, target);
  return text;
}

inline std::string Plain(double value, int digits = 1) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}
// "8.5 (≤ 20)", or "**25.3, missed** (≤ 20)".
inline std::string AtMost(double value, double target, int digits = 1) {
  return BesideTarget(value, "≤", target, value > target, digits);
}
inline std::string AtLeast(double value, double target, int digits = 1) {
  return BesideTarget(value, "≥", target, value < target, digits);
}

}  // namespace bench
