#include "pkg/inspect/foreign_text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "pkg/inspect/table.h"
#include "pkg/json/utf8.h"

namespace inspect {
namespace {

struct CodePoints {
  char32_t first;
  char32_t last;
};

// Controls, separators of lines and paragraphs, interlinear annotations, and the property
// Default_Ignorable_Code_Point of Unicode 16.0.
constexpr CodePoints kHidden[] = {
    {0x00, 0x1F},       {0x7F, 0x9F},        // controls
    {0xAD, 0xAD},       {0x34F, 0x34F},      // soft hyphen; grapheme joiner
    {0x61C, 0x61C},     {0x115F, 0x1160},    // a mark of direction; fillers
    {0x17B4, 0x17B5},   {0x180B, 0x180F},    // vowels without a shape; Mongolian selectors
    {0x200B, 0x200F},   {0x2028, 0x202E},    // no width, marks; separators, embeddings, overrides
    {0x2060, 0x206F},   {0x3164, 0x3164},    // isolates and the like; filler
    {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},    // selectors of variants; byte order mark
    {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},    // filler; annotations
    {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A},  // controls of shorthand and of notes
    {0xE0000, 0xE0FFF},                      // tags, selectors
};

bool IsVisibleAscii(char c) { return c >= ' ' && c <= '~'; }

bool IsHidden(char32_t code) {
  return std::ranges::any_of(
      kHidden, [code](CodePoints range) { return range.first <= code && code <= range.last; });
}

// The code point of a whole UTF-8 sequence.
char32_t CodeOf(std::string_view sequence) {
  const auto lead = static_cast<std::uint8_t>(sequence[0]);
  if (sequence.size() == 1) return lead;
  char32_t code = lead & (0x7FU >> sequence.size());
  for (const char c : sequence.substr(1)) code = code << 6 | (static_cast<std::uint8_t>(c) & 0x3FU);
  return code;
}

// Copies the text; `instead_of(code)` returns what stands for a hidden character.
template <typename InsteadOf>
std::string Replace(std::string_view text, InsteadOf instead_of) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const auto* const end = std::ranges::find_if_not(text, IsVisibleAscii);
    safe.append(text.begin(), end);
    text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
    if (text.empty()) break;
    const std::size_t length = json::SequenceLength(text);
    const std::string_view sequence = text.substr(0, std::max<std::size_t>(length, 1));
    text.remove_prefix(sequence.size());
    const char32_t code = length == 0 ? 0 : CodeOf(sequence);
    if (length == 0) {
      safe += json::kReplacementCharacter;
    } else if (IsHidden(code)) {
      safe += instead_of(code);
    } else {
      safe += sequence;
    }
  }
  return safe;
}

using Escape = std::string (*)(unsigned code);

// A character above U+FFFF is a pair of surrogates in JSON, and one escape in YAML.
std::string JsonEscape(unsigned code) {
  char text[16];
  if (code <= 0xFFFF) {
    std::snprintf(text, sizeof text, "\\u%04x", code);
  } else {
    std::snprintf(text, sizeof text, "\\u%04x\\u%04x", 0xD7C0 + (code >> 10),
                  0xDC00 + (code & 0x3FF));
  }
  return text;
}

std::string YamlEscape(unsigned code) {
  char text[16];
  std::snprintf(text, sizeof text, code <= 0xFFFF ? "\\u%04x" : "\\U%08x", code);
  return text;
}

std::string EscapeHidden(std::string_view document, Escape escape) {
  return Replace(document, [escape](char32_t code) {
    return code == '\n' ? std::string("\n") : escape(static_cast<unsigned>(code));
  });
}

// The length of what output consists of at the beginning of the text; 0 if it is something else.
std::size_t OwnLength(std::string_view text) {
  if (text.starts_with("\n")) return 1;
  if (text.starts_with("\r\n")) return 2;
  return ColourLength(text);
}

}  // namespace

std::string Harmless(std::string_view text) {
  return Replace(text, [](char32_t) { return ' '; });
}

std::string Line(std::string_view text) { return Harmless(text) + "\n"; }

std::string HarmlessOutput(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const std::size_t own = OwnLength(text);
    safe += text.substr(0, own);
    text.remove_prefix(own);
    const std::size_t end = std::min(text.find_first_of("\n\r\x1b", own == 0 ? 1 : 0), text.size());
    safe += Harmless(text.substr(0, end));
    text.remove_prefix(end);
  }
  return safe;
}

std::string HarmlessJson(std::string_view document) { return EscapeHidden(document, JsonEscape); }

std::string HarmlessYaml(std::string_view document) { return EscapeHidden(document, YamlEscape); }

}  // namespace inspect
