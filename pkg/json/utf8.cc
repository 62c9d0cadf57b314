#include "pkg/json/utf8.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <charconv>
#include <cstdint>
#include <cstring>

namespace json {
namespace {

struct Lead {
  std::size_t length;         // 0: no sequence begins with this byte
  std::uint8_t second_least;  // the bounds of the second byte exclude overlong forms and surrogates
  std::uint8_t second_most;
};

Lead LeadOf(std::uint8_t byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2) return {0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

std::uint8_t ByteAt(std::string_view text, std::size_t at) {
  return static_cast<std::uint8_t>(text[at]);
}

// The first byte at or after `at` that is not ASCII; text.size() if there is none.
std::size_t SkipAscii(std::string_view text, std::size_t at) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  for (; at + sizeof(std::uint64_t) <= text.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof(word));
    if ((word & kHighBits) != 0) break;
  }
  while (at < text.size() && ByteAt(text, at) < 0x80) ++at;
  return at;
}

// The code unit of the \u escape at `at`; 0 if there is none.
unsigned EscapedUnit(std::string_view json, std::size_t at) {
  if (json.size() < 6 || at > json.size() - 6 || json[at] != '\\' || json[at + 1] != 'u') return 0;
  const char* const digits = json.data() + at + 2;
  unsigned unit = 0;
  const auto read = std::from_chars(digits, digits + 4, unit, 16);
  return read.ptr == digits + 4 ? unit : 0;
}

bool IsHigh(unsigned unit) { return (unit & 0xFC00U) == 0xD800U; }
bool IsLow(unsigned unit) { return (unit & 0xFC00U) == 0xDC00U; }

}  // namespace

std::size_t FindControl(std::string_view text) {
  std::size_t at = 0;
#if defined(__SSE2__)
  const __m128i first = _mm_set1_epi8(0x1A);
  const __m128i span = _mm_set1_epi8(0x1F - 0x1A);
  for (; text.size() - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    const __m128i above = _mm_sub_epi8(bytes, first);
    if (_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(above, span), above)) != 0) break;
  }
#endif
  for (; at < text.size(); ++at) {
    if (text[at] >= 0x1A && text[at] <= 0x1F) return at;
  }
  return std::string_view::npos;
}

void ReplaceLoneSurrogates(std::string& json) {
  const auto next = [&json](std::size_t from) { return json.find('\\', from); };
  for (std::size_t at = next(0); at != std::string::npos;) {
    const unsigned unit = EscapedUnit(json, at);
    if (IsHigh(unit) && IsLow(EscapedUnit(json, at + 6))) {
      at = next(at + 12);
      continue;
    }
    if (IsHigh(unit) || IsLow(unit)) json.replace(at, 6, "\\ufffd");
    at = next(at + 2);
  }
}

std::size_t SequenceLength(std::string_view text) {
  if (text.empty()) return 0;
  const Lead lead = LeadOf(ByteAt(text, 0));
  if (lead.length <= 1) return lead.length;
  if (text.size() < lead.length) return 0;
  const std::uint8_t second = ByteAt(text, 1);
  if (second < lead.second_least || second > lead.second_most) return 0;
  for (std::size_t i = 2; i < lead.length; ++i) {
    if ((ByteAt(text, i) & 0xC0) != 0x80) return 0;
  }
  return lead.length;
}

std::size_t FindInvalidUtf8(std::string_view text) {
  for (std::size_t at = SkipAscii(text, 0); at < text.size(); at = SkipAscii(text, at)) {
    const std::size_t length = SequenceLength(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

}  // namespace json
