#pragma once

// A Kubernetes quantity: an exact number and the format in which it is printed. Upstream's rules
// are in apimachinery v0.36.3, pkg/api/resource/quantity.go: grammar, rounding, caps, canonical
// form, arithmetic.
//
// The number is a 128-bit count of 10^-9. Upstream's is unbounded. Here a number that does not fit
// is saturated: it is kMost, which means "at least kMost", or -kMost. No magnitude is an error, and
// nothing wraps around.
//
// Values; any thread. No I/O.

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "pkg/base/error.h"

namespace quantity {

__extension__ typedef __int128 Int128;

// Quantity::nanos() of 1.
inline constexpr Int128 kNanosPerOne = 1'000'000'000;

// The greatest magnitude in nanos, about 1.7e29. A number of this magnitude is saturated.
inline constexpr Int128 kMost = ~(Int128{1} << 127);

// What a saturated quantity prints. Every reader of the API (upstream's checks of names that allow
// only whole numbers, CEL, CRD schemas) accepts this text, and it reads back as saturated.
inline constexpr std::string_view kSaturatedText = "1e30";

enum class Format : std::uint8_t { kDecimalSI, kBinarySI, kDecimalExponent };

class Quantity {
 public:
  Quantity() = default;  // zero, DecimalSI
  // A whole number.
  static Quantity FromInt(std::int64_t value, Format format = Format::kDecimalSI);
  // A number of 10^-9, from -kMost to kMost.
  static Quantity FromNanos(Int128 nanos, Format format) { return {nanos, format}; }
  static Quantity Saturated() { return {kMost, Format::kDecimalExponent}; }
  // Errors: kInvalidArgument with one of upstream's three messages.
  static base::Result<Quantity> Parse(std::string_view text);

  // The canonical form, as upstream prints a modified quantity: the parsed text is not kept. Two
  // departures, because an API server must store the same number when it is sent the text:
  // multiples of 10^21 print as a decimal exponent (upstream drops their suffix), and binary
  // amounts beyond 2^63 - 1 without a binary suffix (upstream caps those when it parses them).
  [[nodiscard]] std::string ToString() const;
  [[nodiscard]] Format format() const { return format_; }
  [[nodiscard]] Int128 nanos() const { return nanos_; }
  [[nodiscard]] bool IsZero() const { return nanos_ == 0; }
  [[nodiscard]] int Sign() const { return nanos_ == 0 ? 0 : (nanos_ < 0 ? -1 : 1); }
  // True if the magnitude is only a lower bound: it did not fit.
  [[nodiscard]] bool IsSaturated() const { return nanos_ == kMost || nanos_ == -kMost; }
  // True if it has no fraction, or is saturated.
  [[nodiscard]] bool IsInteger() const;

  // The sum has this one's format, or the other's if this one is zero. A saturated operand makes
  // the result saturated, so that nothing is counted as less than it is: kMost - 5 and kMost -
  // kMost are kMost. Of two saturated operands of different signs, the positive one wins.
  [[nodiscard]] Quantity Add(const Quantity& other) const;
  [[nodiscard]] Quantity Sub(const Quantity& other) const;
  // Zero times a saturated quantity is zero.
  [[nodiscard]] Quantity Mul(Int128 times) const;
  // Rounds away from zero to a multiple of 10^-9. Has this one's format.
  [[nodiscard]] Quantity Mul(const Quantity& other) const;
  // Rounds away from zero to a whole number, or to a multiple of 10^-3 (PVC sizes; API defaulting).
  [[nodiscard]] Quantity RoundUpToInteger() const;
  [[nodiscard]] Quantity RoundUpToMilli() const;

  // Compares values; the format does not matter.
  bool operator==(const Quantity& other) const { return nanos_ == other.nanos_; }
  std::strong_ordering operator<=>(const Quantity& other) const {
    return nanos_ < other.nanos_   ? std::strong_ordering::less
           : nanos_ > other.nanos_ ? std::strong_ordering::greater
                                   : std::strong_ordering::equal;
  }

 private:
  // The lowest number of the type is not used, so that every number has a magnitude.
  Quantity(Int128 nanos, Format format)
      : nanos_(nanos < -kMost ? -kMost : nanos), format_(format) {}
  Int128 nanos_ = 0;
  Format format_ = Format::kDecimalSI;
};

}  // namespace quantity
