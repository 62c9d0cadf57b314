#include "pkg/quantity/quantity.h"

#include <string>

#include "pkg/quantity/quantity_text.h"

namespace quantity {
namespace {

constexpr Int128 kNanosPerMilli = 1'000'000;

// REQUIRES: not saturated.
Int128 RoundAwayFromZero(Int128 nanos, Int128 unit) {
  const Int128 rest = nanos % unit;
  if (rest == 0) return nanos;
  Int128 rounded = 0;
  const bool overflow = __builtin_add_overflow(nanos - rest, rest < 0 ? -unit : unit, &rounded);
  if (!overflow) return rounded;
  return nanos < 0 ? -kMost : kMost;
}

}  // namespace

Quantity Quantity::FromInt(std::int64_t value, Format format) {
  return {value * kNanosPerOne, format};
}

base::Result<Quantity> Quantity::Parse(std::string_view text) {
  const base::Result<ParsedText> parsed = ParseText(text);
  if (!parsed) return parsed.error();
  return Quantity(parsed->nanos, parsed->format);
}

std::string Quantity::ToString() const { return PrintText(nanos_, format_); }

bool Quantity::IsInteger() const { return IsSaturated() || nanos_ % kNanosPerOne == 0; }

Quantity Quantity::Add(const Quantity& other) const {
  const Format format = IsZero() ? other.format_ : format_;
  if (nanos_ == kMost || other.nanos_ == kMost) return {kMost, format};
  if (nanos_ == -kMost || other.nanos_ == -kMost) return {-kMost, format};
  Int128 sum = 0;
  if (!__builtin_add_overflow(nanos_, other.nanos_, &sum)) return {sum, format};
  return {nanos_ < 0 ? -kMost : kMost, format};
}

Quantity Quantity::Sub(const Quantity& other) const {
  return Add(Quantity(-other.nanos_, other.format_));
}

Quantity Quantity::Mul(Int128 times) const {
  Int128 product = 0;
  if (times == 0) return {0, format_};
  const bool overflow = __builtin_mul_overflow(nanos_, times, &product);
  if (!overflow && !IsSaturated()) return {product, format_};
  return {(nanos_ < 0) == (times < 0) ? kMost : -kMost, format_};
}

Quantity Quantity::Mul(const Quantity& other) const {
  if (IsZero() || other.IsZero()) return {0, format_};
  const bool negative = (Sign() < 0) != (other.Sign() < 0);
  const Int128 a = nanos_ < 0 ? -nanos_ : nanos_;
  const Int128 b = other.nanos_ < 0 ? -other.nanos_ : other.nanos_;
  // a * b / 10^9, in parts: only the product of both whole parts, and the sum, may not fit.
  const Int128 whole_a = a / kNanosPerOne;
  const Int128 rest_a = a % kNanosPerOne;
  const Int128 whole_b = b / kNanosPerOne;
  const Int128 rest_b = b % kNanosPerOne;
  const Int128 rests = RoundAwayFromZero(rest_a * rest_b, kNanosPerOne) / kNanosPerOne;
  Int128 product = 0;
  const bool overflow = __builtin_mul_overflow(whole_a, whole_b, &product) ||
                        __builtin_mul_overflow(product, kNanosPerOne, &product) ||
                        __builtin_add_overflow(product, whole_a * rest_b, &product) ||
                        __builtin_add_overflow(product, rest_a * whole_b, &product) ||
                        __builtin_add_overflow(product, rests, &product);
  if (overflow || IsSaturated() || other.IsSaturated()) product = kMost;
  return {negative ? -product : product, format_};
}

Quantity Quantity::RoundUpToInteger() const {
  return IsSaturated() ? *this : Quantity(RoundAwayFromZero(nanos_, kNanosPerOne), format_);
}

Quantity Quantity::RoundUpToMilli() const {
  return IsSaturated() ? *this : Quantity(RoundAwayFromZero(nanos_, kNanosPerMilli), format_);
}

}  // namespace quantity
