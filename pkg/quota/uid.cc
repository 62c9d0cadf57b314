#include "pkg/quota/uid.h"

#include "pkg/quota/hash.h"

namespace quota {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t kShortSize = 11;
constexpr int kSpareBits = 2;  // 11 digits have 66 bits

}  // namespace

Uid Uid::FromText(std::string_view text) { return {HashText(text)}; }

std::string Uid::ToShortText() const {
  std::string text(kShortSize, '\0');
  text.back() = kDigits[(value << kSpareBits) & 63];
  std::uint64_t rest = value >> (6 - kSpareBits);
  for (std::size_t i = kShortSize - 1; i-- > 0; rest >>= 6) text[i] = kDigits[rest & 63];
  return text;
}

std::optional<Uid> Uid::FromShortText(std::string_view text) {
  if (text.size() != kShortSize) return std::nullopt;
  Uid uid;
  for (const char digit : text.substr(0, kShortSize - 1)) {
    uid.value = uid.value << 6 | kDigits.find(digit);
  }
  uid.value = uid.value << (6 - kSpareBits) | kDigits.find(text.back()) >> kSpareBits;
  // Also false if a character is not a digit, or the spare bits are not zero.
  if (uid.ToShortText() != text) return std::nullopt;
  return uid;
}

}  // namespace quota
