#include "pkg/json/nesting.h"

#include "pkg/json/skip.h"

namespace json {

std::size_t NestingScanner::Scan(std::string_view bytes) {
  std::size_t at = 0;
  const bool is_string = nesting_.depth == 0 && (nesting_.in_string || bytes.starts_with('"'));
  if (!is_string) {
    at = SkipBlocks(bytes, nesting_);
    if (at > 0 && nesting_.depth == 0) return at;
  }
  while (at < bytes.size()) {
    if (nesting_.in_string) {
      at = ScanString(bytes, at);
      if (Complete()) return at;
      continue;
    }
    const char c = bytes[at++];
    if (c == '"') {
      nesting_.in_string = true;
    } else if (c == '{' || c == '[') {
      ++nesting_.depth;
    } else if ((c == '}' || c == ']') && --nesting_.depth == 0) {
      return at;
    }
  }
  return at;
}

// Returns the position after the closing quote, or the end of `bytes`.
std::size_t NestingScanner::ScanString(std::string_view bytes, std::size_t at) {
  while (at < bytes.size()) {
    if (nesting_.escaped) {
      nesting_.escaped = false;
      ++at;
      continue;
    }
    at = FindStringEvent(bytes, at);
    if (at == bytes.size()) break;
    if (bytes[at++] == '"') {
      nesting_.in_string = false;
      return at;
    }
    nesting_.escaped = true;
  }
  return at;
}

}  // namespace json
