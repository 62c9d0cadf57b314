#include "pkg/json/skip.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
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

template <std::size_t kAt>
void AddMarks(const char* block, Marks& marks) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + kAt));
  // [ and { differ in one bit, and so do ] and }, in the same bit.
  const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
  marks.quotes |= Where(bytes, '"') << kAt;
  marks.backslashes |= Where(bytes, '\\') << kAt;
  marks.opens |= Where(folded, '{') << kAt;
  marks.closes |= Where(folded, '}') << kAt;
}

// Without loops here and below, which the compiler would not unroll.
Marks MarksOf(const char* block) {
  Marks marks;
  AddMarks<0>(block, marks);
  AddMarks<16>(block, marks);
  AddMarks<32>(block, marks);
  AddMarks<48>(block, marks);
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
  quotes ^= quotes << 1;
  quotes ^= quotes << 2;
  quotes ^= quotes << 4;
  quotes ^= quotes << 8;
  quotes ^= quotes << 16;
  return quotes ^ quotes << 32;
}

// The number of bits that are set. That of the standard library is the call of a function unless
// the compiler knows that the processor has the instruction.
std::size_t CountOf(Bits bits) {
  bits -= (bits >> 1) & 0x5555'5555'5555'5555;
  bits = (bits & 0x3333'3333'3333'3333) + ((bits >> 2) & 0x3333'3333'3333'3333);
  bits = (bits + (bits >> 4)) & 0x0f0f'0f0f'0f0f'0f0f;
  return static_cast<std::size_t>((bits * 0x0101'0101'0101'0101) >> 56);
}

// The bytes after a backslash that is not itself escaped. `pending`: the first byte of the block
// is, and then whether that of the next one is.
//
// In a run of backslashes every other one escapes. Subtracting the run from the odd bits flips them
// from its beginning on, so that the difference has the escaping ones of the run and what its last
// one escapes.
Bits Escaped(Bits backslashes, bool& pending) {
  const Bits first = pending ? 1 : 0;
  pending = false;
  if (backslashes == 0) return first;
  constexpr Bits kOdd = 0xAAAA'AAAA'AAAA'AAAA;
  const Bits runs = backslashes & ~first;
  const Bits escaping_and_last = (((runs << 1) | kOdd) - runs) ^ kOdd;
  pending = ((escaping_and_last & backslashes) >> (kBlock - 1)) != 0;
  return escaping_and_last ^ (backslashes | first);
}

std::size_t FindEnd(const Marks& marks, std::size_t& depth) {
  for (Bits rest = marks.opens | marks.closes; rest != 0; rest &= rest - 1) {
    const bool opens = (marks.opens & rest & -rest) != 0;
    depth = opens ? depth + 1 : depth - 1;
    if (depth == 0) return static_cast<std::size_t>(std::countr_zero(rest)) + 1;
  }
  return kNone;
}

// Follows a block. Returns how many of its bytes belong to the container; kNone if it continues
// after them. Changes nothing and sets `foreign` if there is a backslash outside of strings.
std::size_t SkipBlock(const char* block, Nesting& nesting, bool& foreign) {
  Marks marks = MarksOf(block);
  bool escaped = nesting.escaped;
  marks.quotes &= ~Escaped(marks.backslashes, escaped);
  const Bits inside = BetweenQuotes(marks.quotes) ^ (nesting.in_string ? ~Bits{0} : 0);
  foreign = (marks.backslashes & ~inside) != 0;
  if (foreign) return kNone;
  marks.opens &= ~inside;
  marks.closes &= ~inside;
  nesting.escaped = escaped;
  nesting.in_string = (inside >> (kBlock - 1)) != 0;
  const std::size_t closes = CountOf(marks.closes);
  if (nesting.depth > closes) {
    nesting.depth += CountOf(marks.opens) - closes;
    return kNone;
  }
  const std::size_t end = FindEnd(marks, nesting.depth);
  if (end != kNone) nesting = Nesting();
  return end;
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

std::size_t SkipBlocks(std::string_view text, Nesting& nesting) {
  bool foreign = false;
  std::size_t at = 0;
  for (; text.size() - at >= kBlock; at += kBlock) {
    const std::size_t taken = SkipBlock(text.data() + at, nesting, foreign);
    if (taken != kNone) return at + taken;
    if (foreign) break;
  }
  return at;
}

}  // namespace json
