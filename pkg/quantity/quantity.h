#pragma once

// A Kubernetes quantity: an exact number and the notation it is printed in (apimachinery v0.36.3,
// pkg/api/resource/quantity.go has the rules: grammar, rounding, caps, canonical form, arithmetic).
//
// The number is a 128-bit count of 10^-9. Upstream's is unbounded; here what does not fit (a
// magnitude beyond kLimitText) is an error of parsing or of arithmetic, never a wrapped value.
//
// Values; any thread. No I/O.

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "pkg/base/error.h"

namespace quantity {

__extension__ typedef __int128 Int128;

// How many of Quantity::nanos() are one.
inline constexpr Int128 kNanosPerOne = 1'000'000'000;

// The greatest magnitude: 2^127 - 1 nanos.
inline constexpr std::string_view kLimitText = "170141183460469231731687303715.884105727";

enum class Format : std::uint8_t { kDecimalSI, kBinarySI, kDecimalExponent };

class Quantity {
 public:
  Quantity() = default;  // zero, DecimalSI
  // A whole number.
  static Quantity FromInt(std::int64_t value, Format format = Format::kDecimalSI);
  // Errors: kInvalidArgument with exactly one of upstream's three texts, or ours for a number
  // that does not fit: "quantity is out of range: …", naming kLimitText.
  static base::Result<Quantity> Parse(std::string_view text);

  // Canonical form, as upstream prints it "after modification": no cached source text.
  [[nodiscard]] std::string ToString() const;
  [[nodiscard]] Format format() const { return format_; }
  [[nodiscard]] Int128 nanos() const { return nanos_; }
  [[nodiscard]] bool IsZero() const { return nanos_ == 0; }
  [[nodiscard]] int Sign() const { return nanos_ == 0 ? 0 : (nanos_ < 0 ? -1 : 1); }
  // True if it has no fraction.
  [[nodiscard]] bool IsInteger() const;

  // The sum keeps this one's format, or takes the other's if this one is zero.
  // Errors of all below: kInvalidArgument when the result does not fit.
  [[nodiscard]] base::Result<Quantity> Add(const Quantity& other) const;
  [[nodiscard]] base::Result<Quantity> Sub(const Quantity& other) const;
  [[nodiscard]] base::Result<Quantity> Mul(std::int64_t times) const;
  // Rounded away from zero to a whole number / to a multiple of 10^-3 (PVC sizes; API defaulting).
  [[nodiscard]] base::Result<Quantity> RoundUpToInteger() const;
  [[nodiscard]] base::Result<Quantity> RoundUpToMilli() const;

  // By value; the format never matters.
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
