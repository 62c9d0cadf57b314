// Text to number. No loop depends on the size of an exponent: the exponent only moves the decimal
// point, and a number too large to fit is saturated before the digits are read.

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "pkg/quantity/quantity_text.h"

namespace quantity {
namespace {

constexpr std::int64_t kNanoDigits = 9;
// Far more digits than any text has: beyond it every exponent gives the same result.
constexpr std::int64_t kMostExponent = std::int64_t{1} << 60;

base::Error Invalid(std::string_view text) {
  return {.code = base::ErrorCode::kInvalidArgument, .message = std::string(text)};
}

base::Error FormatWrong() {
  return Invalid(
      "quantities must match the regular expression "
      "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

base::Error SuffixWrong() { return Invalid("unable to parse quantity's suffix"); }

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// A text split into sign, digits before and after the point, and suffix.
struct Parts {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  std::string_view suffix;
};

class Cutter {
 public:
  explicit Cutter(std::string_view text) : text_(text) {}

  std::optional<Parts> Cut() {
    Parts parts;
    parts.negative = Accept("-");
    if (!parts.negative) Accept("+");
    parts.whole = Digits();
    if (Accept(".")) parts.fraction = Digits();
    const std::size_t suffix = at_;
    while (Accept("eEinumkKMGTP")) {
    }
    Accept("+-");
    Digits();
    if (at_ != text_.size()) return std::nullopt;
    parts.suffix = text_.substr(suffix);
    return parts;
  }

 private:
  bool Accept(std::string_view any_of) {
    if (at_ == text_.size() || any_of.find(text_[at_]) == std::string_view::npos) return false;
    ++at_;
    return true;
  }
  std::string_view Digits() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// The factor of a suffix: 10^ten, or 2^two.
struct Scale {
  Format format = Format::kDecimalSI;
  std::int64_t ten = 0;
  int two = 0;
};

std::optional<Scale> ExponentScale(std::string_view digits) {
  if (digits.starts_with('+')) digits.remove_prefix(1);  // from_chars does not accept a plus sign
  std::int64_t exponent = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return Scale{Format::kDecimalExponent, exponent, 0};
}

std::optional<Scale> ParseSuffix(std::string_view suffix) {
  constexpr std::string_view kDecimal = "num kMGTPE";  // 10^-9, 10^-6, … in steps of 1000
  constexpr std::string_view kBinary = "KMGTPE";       // 2^10, 2^20, …
  if (suffix.empty()) return Scale{};
  if (suffix.size() == 1) {
    const std::size_t step = kDecimal.find(suffix[0]);
    if (step == std::string_view::npos) return std::nullopt;
    return Scale{Format::kDecimalSI, (static_cast<std::int64_t>(step) - 3) * 3, 0};
  }
  if (suffix.size() == 2 && suffix[1] == 'i') {
    const std::size_t step = kBinary.find(suffix[0]);
    if (step == std::string_view::npos) return std::nullopt;
    return Scale{Format::kBinarySI, 0, static_cast<int>(step + 1) * 10};
  }
  if (suffix[0] == 'e' || suffix[0] == 'E') return ExponentScale(suffix.substr(1));
  return std::nullopt;
}

// The digits of a number whose decimal point is after digit `point`, which may be out of range.
class PointedDigits {
 public:
  PointedDigits(std::string_view whole, std::string_view fraction)
      : digits_(std::string(whole).append(fraction)),
        point_(static_cast<std::int64_t>(whole.size())) {
    const std::size_t zeros = std::min(digits_.find_first_not_of('0'), digits_.size());
    digits_.erase(0, zeros);
    point_ -= static_cast<std::int64_t>(zeros);
    digits_.erase(digits_.find_last_not_of('0') + 1);
  }

  [[nodiscard]] bool IsZero() const { return digits_.empty(); }

  // Returns the number × 10^ten × factor, rounded up to an integer, at most kMost. REQUIRES:
  // factor < 2^120, so that ten times it and a carry fit; |ten| is about kMostExponent at most.
  [[nodiscard]] Int128 Times(std::int64_t ten, Uint128 factor) const {
    if (IsZero()) return 0;
    const std::int64_t point = point_ + ten;
    if (point > kMostDigits) return kMost;
    Uint128 product = 0;
    if (__builtin_mul_overflow(Whole(point), factor, &product)) return kMost;
    if (__builtin_add_overflow(product, FractionTimes(point, factor), &product) ||
        product > static_cast<Uint128>(kMost)) {
      return kMost;
    }
    return static_cast<Int128>(product);
  }

 private:
  // A number with more digits than this before its point does not fit (10^38 < kMost < 10^39).
  static constexpr std::int64_t kMostDigits = 39;

  // The digits before the point as a number; far above kMost if they do not fit.
  [[nodiscard]] Uint128 Whole(std::int64_t point) const {
    Uint128 value = 0;
    for (std::int64_t i = 0; i < point; ++i) {
      const auto digit = static_cast<Uint128>(Digit(i) - '0');
      if (__builtin_mul_overflow(value, Uint128{10}, &value) ||
          __builtin_add_overflow(value, digit, &value)) {
        return ~Uint128{0};
      }
    }
    return value;
  }

  // The fraction × factor, rounded up: long multiplication from the last digit on.
  [[nodiscard]] Uint128 FractionTimes(std::int64_t point, Uint128 factor) const {
    Uint128 carry = 0;
    bool rest = false;
    const auto first = std::max<std::int64_t>(point, 0);
    for (auto i = static_cast<std::int64_t>(digits_.size()) - 1; i >= first; --i) {
      const Uint128 sum = static_cast<Uint128>(Digit(i) - '0') * factor + carry;
      rest = rest || sum % 10 != 0;
      carry = sum / 10;
    }
    // Zeros between the point and the first digit. Each one divides by ten, so the loop is short.
    for (std::int64_t i = point; i < 0 && carry != 0; ++i) {
      rest = rest || carry % 10 != 0;
      carry /= 10;
    }
    return carry + (rest ? 1 : 0);
  }

  [[nodiscard]] char Digit(std::int64_t index) const {
    const auto i = static_cast<std::size_t>(index);
    return i < digits_.size() ? digits_[i] : '0';
  }

  std::string digits_;  // without zeros at either end
  std::int64_t point_;
};

ParsedText Number(const Parts& parts, const Scale& scale) {
  const PointedDigits digits(parts.whole, parts.fraction);
  const bool binary = scale.format == Format::kBinarySI;
  const std::int64_t ten =
      binary ? 0 : std::clamp(scale.ten, -kMostExponent, kMostExponent) + kNanoDigits;
  Int128 magnitude = digits.Times(ten, binary ? kNanosPerOne << scale.two : 1);
  Format format = scale.format;
  if (binary) {
    magnitude = std::min(magnitude, kBinaryCap);
    if (magnitude > 0 && magnitude < kNanosPerOne) format = Format::kDecimalSI;
  }
  return ParsedText{parts.negative ? -magnitude : magnitude, format};
}

}  // namespace

base::Result<ParsedText> ParseText(std::string_view text) {
  if (text.empty()) return FormatWrong();
  const std::optional<Parts> parts = Cutter(text).Cut();
  if (!parts) return FormatWrong();
  const std::optional<Scale> scale = ParseSuffix(parts->suffix);
  if (!scale) return SuffixWrong();
  // Missing digits (".", "-", "e3", "Ti") read as zero, except where upstream needs digits to round
  // or to multiply: below nano, and from Pi on.
  const bool needed = scale->ten < -kNanoDigits || scale->two >= 50;
  if (parts->whole.empty() && parts->fraction.empty() && needed) {
    return Invalid("unable to parse numeric part of quantity");
  }
  return Number(*parts, *scale);
}

}  // namespace quantity
