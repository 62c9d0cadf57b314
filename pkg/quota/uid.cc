#include "pkg/quota/uid.h"

#include <optional>

namespace quota {
namespace {

std::optional<unsigned> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

std::optional<Uid> ParseUuid(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  Uid uid;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash && text[i] == '-') continue;
    const std::optional<unsigned> digit = dash ? std::nullopt : HexDigit(text[i]);
    if (!digit) return std::nullopt;
    uid.high = uid.high << 4 | uid.low >> 60;
    uid.low = uid.low << 4 | *digit;
  }
  return uid;
}

}  // namespace

Uid Uid::FromText(std::string_view text) {
  if (const std::optional<Uid> uuid = ParseUuid(text)) return *uuid;
  return {HashText(text, 1), HashText(text, 2)};
}

}  // namespace quota
