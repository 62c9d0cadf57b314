#pragma once

// Text of protocols: ASCII letters, whatever the locale.
//
// Pure; any thread.

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace base {

inline std::string ToLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  return lower;
}

// The beginning of the text, at most `most` bytes. Cuts between UTF-8 characters.
inline std::string_view Beginning(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  return text.substr(0, most);
}

// `texts` is a range of strings.
bool IsOneOf(std::string_view text, const auto& texts) {
  return std::ranges::find(texts, text) != std::ranges::end(texts);
}
inline bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> texts) {
  return std::ranges::find(texts, text) != texts.end();
}

// Returns the texts of a range with `between` after each that is not the last one.
std::string Join(const auto& texts, std::string_view between) {
  std::string joined;
  for (const std::string_view text : texts) {
    if (!joined.empty()) joined += between;
    joined += text;
  }
  return joined;
}

}  // namespace base
