#pragma once

// A Kubernetes quantity: an exact number and the format in which it is printed. Upstream's rules
// are in apimachinery v0.36.3, pkg/api/resource/quantity.go: grammar, rounding, caps, canonical
// form, arithmetic.
//
// The number is a 128-bit count of 10^-9. Upstream's is unbounded. Here a number that does not fit
// (a magnitude beyond kLimitText) is an error of parsing or of arithmetic; it never wraps around.
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

// The greatest magnitude: 2^127 - 1 nanos.
inline constexpr std::string_view kLimitText = "170141183460469231731687303715.884105727";

enum class Format : std::uint8_t { kDecimalSI, kBinarySI, kDecimalExponent };

class Quantity {
 public:
  Quantity() = default;  // zero, DecimalSI
  // A whole number.
  static Quantity FromInt(std::int64_t value, Format format = Format::kDecimalSI);
  // Errors: kInvalidArgument with one of upstream's three messages, or ours for a number that does
  // not fit: "quantity is out of range: …", naming kLimitText.
  static base::Result<Quantity> Parse(std::string_view text);

  // The canonical form, as upstream prints a modified quantity: the parsed text is not kept.
  [[nodiscard]] std::string ToString() const;
  [[nodiscard]] Format format() const { return format_; }
  [[nodiscard]] Int128 nanos() const { return nanos_; }
  [[nodiscard]] bool IsZero() const { return nanos_ == 0; }
  [[nodiscard]] int Sign() const { return nanos_ == 0 ? 0 : (nanos_ < 0 ? -1 : 1); }
  // True if it has no fraction.
  [[nodiscard]] bool IsInteger() const;

  // The sum has this one's format, or the other's if this one is zero. Errors of all functions
  // below: kInvalidArgument if the result does not fit.
  [[nodiscard]] base::Result<Quantity> Add(const Quantity& other) const;
  [[nodiscard]] base::Result<Quantity> Sub(const Quantity& other) const;
  [[nodiscard]] base::Result<Quantity> Mul(std::int64_t times) const;
  // Rounds away from zero to a whole number, or to a multiple of 10^-3 (PVC sizes; API defaulting).
  [[nodiscard]] base::Result<Quantity> RoundUpToInteger() const;
  [[nodiscard]] base::Result<Quantity> RoundUpToMilli() const;

  // Compares values; the format does not matter.
  bool operator==(const Quantity& other) const { return nanos_ == other.nanos_; }
  std::strong_ordering operator<=>(const Quantity& other) const {
    return nanos_ < other.nanos_   ? std::strong_ordering::less
           : nanos_ > other.nanos_ ? std::strong_ordering::greater
                                   : std::strong_ordering::equal;
  }

 private:
  Quantity(Int128 nanos, Format format) : nanos_(nanos), format_(format) {}
  Int128 nanos_ = 0;
  Format format_ = Format::kDecimalSI;
};

}  // namespace quantity
