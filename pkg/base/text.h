#pragma once

// Text of protocols: ASCII letters, whatever the locale.
//
// Pure; any thread.

#include <string>
#include <string_view>

namespace base {

inline std::string ToLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  return lower;
}

}  // namespace base
