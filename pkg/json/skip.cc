#include "pkg/json/skip.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace json {
namespace {

constexpr std::size_t kBlock = 64;
constexpr std::size_t kNone = std::string_view::npos;

using Bits = std::uint64_t;  // one bit for each byte of a block; the lowest is the first byte's

struct Marks {
  Bits quotes = 0;
  Bits backslashes = 0;
  Bits opens = 0;
  Bits closes = 0;
};

#if defined(__SSE2__)
Bits Where(__m128i bytes, char c) {
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(c))));
}

Marks MarksOf(const char* block) {
  Marks marks;
  for (std::size_t i = 0; i < kBlock; i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + i));
    // [ and { differ in one bit, and so do ] and }, in the same bit.
    const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    marks.quotes |= Where(bytes, '"') << i;
    marks.backslashes |= Where(bytes, '\\') << i;
    marks.opens |= Where(folded, '{') << i;
    marks.closes |= Where(folded, '}') << i;
  }
  return marks;
}
#else
Marks MarksOf(const char* block) {
  Marks marks;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const Bits bit = Bits{1} << i;
    const char c = block[i];
    if (c == '"') marks.quotes |= bit;
    if (c == '\\') marks.backslashes |= bit;
    if (c == '{' || c == '[') marks.opens |= bit;
    if (c == '}' || c == ']') marks.closes |= bit;
  }
  return marks;
}
#endif

// Sets each bit to the parity of the bits up to and including it: 1 from an opening quote up to the
// closing one.
Bits BetweenQuotes(Bits quotes) {
  for (const int by : {1, 2, 4, 8, 16, 32}) quotes ^= quotes << by;
  return quotes;
}

class ContainerSkipper {
 public:
  // Returns how many bytes of the block belong to the container; kNone if it continues after them.
  std::size_t Skip(const char* block) {
    Marks marks = MarksOf(block);
    marks.quotes &= ~Escaped(marks.backslashes);
    const Bits inside = BetweenQuotes(marks.quotes) ^ (in_string_ ? ~Bits{0} : 0);
    in_string_ = (inside >> (kBlock - 1)) != 0;
    marks.opens &= ~inside;
    marks.closes &= ~inside;
    const auto closes = static_cast<std::size_t>(std::popcount(marks.closes));
    if (depth_ <= closes) return FindEnd(marks);
    depth_ += static_cast<std::size_t>(std::popcount(marks.opens)) - closes;
    return kNone;
  }

 private:
  // The bytes after a backslash that is not itself escaped.
  Bits Escaped(Bits backslashes) {
    Bits escaped = escape_pending_ ? 1 : 0;
    escape_pending_ = false;
    Bits rest = backslashes & ~escaped;
    while (rest != 0) {
      const Bits first = rest & -rest;
      const Bits behind = first << 1;
      escape_pending_ = behind == 0;
      escaped |= behind;
      rest &= ~(first | behind);
    }
    return escaped;
  }

  std::size_t FindEnd(const Marks& marks) {
    for (Bits rest = marks.opens | marks.closes; rest != 0; rest &= rest - 1) {
      const bool opens = (marks.opens & rest & -rest) != 0;
      depth_ = opens ? depth_ + 1 : depth_ - 1;
      if (depth_ == 0) return static_cast<std::size_t>(std::countr_zero(rest)) + 1;
    }
    return kNone;
  }

  std::size_t depth_ = 0;
  bool in_string_ = false;
  bool escape_pending_ = false;
};

std::size_t SkipContainer(std::string_view text, std::size_t at) {
  ContainerSkipper skipper;
  for (; text.size() - at >= kBlock; at += kBlock) {
    const std::size_t taken = skipper.Skip(text.data() + at);
    if (taken != kNone) return at + taken;
  }
  std::array<char, kBlock> rest{};
  std::copy(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), rest.begin());
  const std::size_t taken = skipper.Skip(rest.data());
  return taken == kNone ? kNone : at + taken;
}

std::size_t SkipString(std::string_view text, std::size_t at) {
  for (++at; (at = FindStringEvent(text, at)) < text.size(); at += 2) {
    if (text[at] == '"') return at + 1;
  }
  return kNone;
}

bool EndsScalar(char c) {
  return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

std::size_t SkipScalar(std::string_view text, std::size_t at) {
  const std::size_t begin = at;
  while (at < text.size() && !EndsScalar(text[at])) ++at;
  return at == begin ? kNone : at;
}

}  // namespace

std::size_t SkipBlank(std::string_view text, std::size_t at) {
  while (at < text.size() &&
         (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t')) {
    ++at;
  }
  return at;
}

std::size_t FindStringEvent(std::string_view text, std::size_t at) {
#if defined(__SSE2__)
  for (; at < text.size() && text.size() - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    const Bits found = Where(bytes, '"') | Where(bytes, '\\');
    if (found != 0) return at + static_cast<std::size_t>(std::countr_zero(found));
  }
#endif
  while (at < text.size() && text[at] != '"' && text[at] != '\\') ++at;
  return std::min(at, text.size());
}

std::size_t SkipValue(std::string_view text, std::size_t at) {
  if (at >= text.size()) return kNone;
  if (text[at] == '{' || text[at] == '[') return SkipContainer(text, at);
  if (text[at] == '"') return SkipString(text, at);
  return SkipScalar(text, at);
}

}  // namespace json
