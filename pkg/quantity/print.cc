// Number to canonical text: exact, without a fraction, and with the largest suffix that allows
// both.

#include <iterator>
#include <string>
#include <string_view>

#include "pkg/quantity/quantity_text.h"

namespace quantity {
namespace {

std::string Digits(Uint128 value) {
  std::string reversed;
  do {
    reversed.push_back(static_cast<char>('0' + static_cast<int>(value % 10)));
    value /= 10;
  } while (value != 0);
  return {reversed.rbegin(), reversed.rend()};
}

// Divides by `base` while there is no remainder, at most `times` times; returns how often.
int Strip(Uint128& value, unsigned base, int times) {
  int stripped = 0;
  while (stripped < times && value % base == 0) {
    value /= base;
    ++stripped;
  }
  return stripped;
}

std::string DecimalExponent(Uint128 nanos) {
  const int exponent = Strip(nanos, 1000, 12) * 3 - 9;
  std::string text = Digits(nanos);
  if (exponent != 0) text.append("e").append(std::to_string(exponent));
  return text;
}

std::string DecimalSI(Uint128 nanos) {
  constexpr std::string_view kSuffixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  Uint128 value = nanos;
  const std::size_t step = static_cast<std::size_t>(Strip(value, 1000, 10));
  // There is no suffix for 10^21. An API server that is sent "1000E" stores "1".
  if (step >= std::size(kSuffixes)) return DecimalExponent(nanos);
  return Digits(value).append(kSuffixes[step]);
}

std::string BinarySI(Uint128 nanos) {
  constexpr std::string_view kSuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  const bool small = nanos < 1024 * kNanosPerOne;
  // With a binary suffix, an API server that is sent the text would cap it.
  if (small || nanos % kNanosPerOne != 0 || nanos > Uint128{kBinaryCap}) return DecimalSI(nanos);
  Uint128 value = nanos / kNanosPerOne;
  const int step = Strip(value, 1024, 6);
  return Digits(value).append(kSuffixes[step]);
}

std::string PrintMagnitude(Uint128 nanos, Format format) {
  switch (format) {
    case Format::kDecimalSI:
      return DecimalSI(nanos);
    case Format::kBinarySI:
      return BinarySI(nanos);
    case Format::kDecimalExponent:
      return DecimalExponent(nanos);
  }
  return DecimalSI(nanos);
}

}  // namespace

std::string PrintText(Int128 nanos, Format format) {
  if (nanos == 0) return "0";
  const auto magnitude = static_cast<Uint128>(nanos < 0 ? -nanos : nanos);
  const std::string sign = nanos < 0 ? "-" : "";
  if (magnitude == static_cast<Uint128>(kMost)) return sign + std::string(kSaturatedText);
  return sign + PrintMagnitude(magnitude, format);
}

}  // namespace quantity
