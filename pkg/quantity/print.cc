// Number to canonical text: exact, without a fraction, and with the largest suffix that allows
// both.

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

std::string DecimalSI(Uint128 nanos) {
  constexpr std::string_view kSuffixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  // Upstream continues beyond E and prints 1000E as "1", because it has no suffix for 10^21. The
  // text must equal the value, so E is the last one here.
  const int step = Strip(nanos, 1000, 9);
  return Digits(nanos).append(kSuffixes[step]);
}

std::string DecimalExponent(Uint128 nanos) {
  const int exponent = Strip(nanos, 1000, 12) * 3 - 9;
  std::string text = Digits(nanos);
  if (exponent != 0) text.append("e").append(std::to_string(exponent));
  return text;
}

std::string BinarySI(Uint128 nanos) {
  constexpr std::string_view kSuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  if (nanos % kNanosPerOne != 0 || nanos < 1024 * kNanosPerOne) return DecimalSI(nanos);
  Uint128 value = nanos / kNanosPerOne;
  const int step = Strip(value, 1024, 6);  // Ei is the last, as E is above
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
  // Negated as unsigned, so that the lowest value has a magnitude too.
  const Uint128 magnitude = nanos < 0 ? -static_cast<Uint128>(nanos) : static_cast<Uint128>(nanos);
  return (nanos < 0 ? "-" : "") + PrintMagnitude(magnitude, format);
}

}  // namespace quantity
