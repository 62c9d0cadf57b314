#include "pkg/quantity/quantity.h"

#include <algorithm>
#include <string>

#include "pkg/quantity/quantity_text.h"

namespace quantity {
namespace {

constexpr Int128 kNanosPerMilli = 1'000'000;

base::Result<Int128> RoundAwayFromZero(Int128 nanos, Int128 unit) {
  const Int128 rest = nanos % unit;
  if (rest == 0) return nanos;
  Int128 rounded = 0;
  if (__builtin_add_overflow(nanos - rest, rest < 0 ? -unit : unit, &rounded)) {
    return OutOfRange();
  }
  return rounded;
}

}  // namespace

base::Error OutOfRange() {
  return {.code = base::ErrorCode::kInvalidArgument,
          .message =
              "quantity is out of range: its magnitude must not exceed " + std::string(kLimitText)};
}

Quantity Quantity::FromInt(std::int64_t value, Format format) {
  return {value * kNanosPerOne, format};
}

base::Result<Quantity> Quantity::Parse(std::string_view text) {
  const base::Result<ParsedText> parsed = ParseText(text);
  if (!parsed) return parsed.error();
  return Quantity(parsed->nanos, parsed->format);
}

std::string Quantity::ToString() const { return PrintText(nanos_, format_); }

bool Quantity::IsInteger() const { return nanos_ % kNanosPerOne == 0; }

base::Result<Quantity> Quantity::Add(const Quantity& other) const {
  Int128 sum = 0;
  if (__builtin_add_overflow(nanos_, other.nanos_, &sum)) return OutOfRange();
  return Quantity(sum, IsZero() ? other.format_ : format_);
}

base::Result<Quantity> Quantity::Sub(const Quantity& other) const {
  Int128 difference = 0;
  if (__builtin_sub_overflow(nanos_, other.nanos_, &difference)) return OutOfRange();
  return Quantity(difference, IsZero() ? other.format_ : format_);
}

base::Result<Quantity> Quantity::Mul(std::int64_t times) const {
  Int128 product = 0;
  if (__builtin_mul_overflow(nanos_, static_cast<Int128>(times), &product)) return OutOfRange();
  return Quantity(product, format_);
}

base::Result<Quantity> Quantity::RoundUpToInteger() const {
  const base::Result<Int128> rounded = RoundAwayFromZero(nanos_, kNanosPerOne);
  if (!rounded) return rounded.error();
  return Quantity(*rounded, format_);
}

base::Result<Quantity> Quantity::RoundUpToMilli() const {
  const base::Result<Int128> rounded = RoundAwayFromZero(nanos_, kNanosPerMilli);
  if (!rounded) return rounded.error();
  return Quantity(*rounded, format_);
}

}  // namespace quantity
