#include "cmd/kubectl-quota/text_encoding.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "cmd/kubectl-quota/check_inputs.h"
#include "pkg/json/utf8.h"

namespace kubectl_quota {
namespace {

constexpr std::string_view kMarkOfUtf8 = "\xEF\xBB\xBF";
constexpr std::string_view kMarkOfLittleEndian = "\xFF\xFE";
constexpr std::string_view kMarkOfBigEndian = "\xFE\xFF";

// The units of a text in UTF-16.
class Units {
 public:
  Units(std::string_view bytes, bool little_endian)
      : bytes_(bytes), little_endian_(little_endian) {}

  // Returns the next unit without taking it. Half a unit at the end is none.
  [[nodiscard]] std::optional<std::uint32_t> Next() const {
    if (bytes_.size() < 2) return std::nullopt;
    const auto first = static_cast<unsigned char>(bytes_[0]);
    const auto second = static_cast<unsigned char>(bytes_[1]);
    return little_endian_ ? (second << 8U) | first : (first << 8U) | second;
  }
  void Take() { bytes_.remove_prefix(2); }
  [[nodiscard]] bool HasRest() const { return !bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool little_endian_;
};

bool IsHighSurrogate(std::uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool IsLowSurrogate(std::uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

void AppendUtf8(std::uint32_t point, std::string& text) {
  const auto append = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  const auto append_low = [&](unsigned shift) { append(0x80U | ((point >> shift) & 0x3FU)); };
  if (point < 0x80) {
    append(point);
  } else if (point < 0x800) {
    append(0xC0U | (point >> 6U));
    append_low(0);
  } else if (point < 0x10000) {
    append(0xE0U | (point >> 12U));
    append_low(6);
    append_low(0);
  } else {
    append(0xF0U | (point >> 18U));
    append_low(12);
    append_low(6);
    append_low(0);
  }
}

std::string FromUtf16(Units units) {
  std::string text;
  while (const auto unit = units.Next()) {
    units.Take();
    const auto low = units.Next();
    if (IsHighSurrogate(*unit) && low && IsLowSurrogate(*low)) {
      units.Take();
      AppendUtf8(0x10000 + ((*unit - 0xD800) << 10U) + (*low - 0xDC00), text);
    } else if (IsHighSurrogate(*unit) || IsLowSurrogate(*unit)) {
      text += json::kReplacementCharacter;
    } else {
      AppendUtf8(*unit, text);
    }
  }
  if (units.HasRest()) text += json::kReplacementCharacter;
  return text;
}

// Returns the text in UTF-8, if a byte order mark tells that it is in UTF-16.
std::optional<std::string> FromMarkedUtf16(std::string_view text) {
  const bool little_endian = text.starts_with(kMarkOfLittleEndian);
  if (!little_endian && !text.starts_with(kMarkOfBigEndian)) return std::nullopt;
  return FromUtf16(Units(text.substr(kMarkOfBigEndian.size()), little_endian));
}

}  // namespace

base::Result<std::string> InUtf8(std::string text, const std::string& file) {
  if (auto converted = FromMarkedUtf16(text)) text = std::move(*converted);
  if (text.starts_with(kMarkOfUtf8)) text.erase(0, kMarkOfUtf8.size());
  if (text.find('\0') != std::string::npos) {
    return WrongInput(file +
                      ": neither UTF-8 nor UTF-16 with a byte order mark, because it has zero "
                      "bytes: save it as UTF-8");
  }
  return text;
}

}  // namespace kubectl_quota
