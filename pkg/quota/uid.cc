#include "pkg/quota/uid.h"

#include <array>
#include <optional>

namespace quota {
namespace {

// The value of each hexadecimal digit, and -1 for other characters.
constexpr std::array<signed char, 256> kDigits = [] {
  std::array<signed char, 256> digits{};
  digits.fill(-1);
  for (int i = 0; i < 10; ++i) digits['0' + i] = static_cast<signed char>(i);
  for (int i = 0; i < 6; ++i) {
    digits['a' + i] = digits['A' + i] = static_cast<signed char>(10 + i);
  }
  return digits;
}();

std::optional<Uid> ParseUuid(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  Uid uid;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (text[i] != '-') return std::nullopt;
      continue;
    }
    const int digit = kDigits[static_cast<unsigned char>(text[i])];
    if (digit < 0) return std::nullopt;
    std::uint64_t& half = i < 18 ? uid.high : uid.low;
    half = half << 4 | static_cast<std::uint64_t>(digit);
  }
  return uid;
}

}  // namespace

Uid Uid::FromText(std::string_view text) {
  if (const std::optional<Uid> uuid = ParseUuid(text)) return *uuid;
  return {HashText(text, 1), HashText(text, 2)};
}

}  // namespace quota
