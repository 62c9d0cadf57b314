// Two quantities, one on each line: parsing, printing and arithmetic are consistent.

#include "pkg/quantity/quantity.h"

#include <limits>

#include "tests/fuzz/target.h"

namespace {

using base::Result;
using quantity::Int128;
using quantity::Quantity;

constexpr Int128 kMilli = 1'000'000;
constexpr Int128 kOne = 1'000'000'000;
constexpr Int128 kBinaryCap = Int128{std::numeric_limits<std::int64_t>::max()} * kOne;

Int128 Magnitude(Int128 value) { return value < 0 ? -value : value; }

void CheckPrinting(const Quantity& value) {
  const std::string text = value.ToString();
  const Result<Quantity> again = Quantity::Parse(text);
  fuzz::Require(again.has_value(), "what is printed can be read");
  // Parsing caps a binary quantity at the largest int64; a sum may be larger.
  const bool capped =
      value.format() == quantity::Format::kBinarySI && Magnitude(value.nanos()) > kBinaryCap;
  if (capped) {
    fuzz::Require(Magnitude(again->nanos()) == kBinaryCap || *again == value, "the cap");
    return;
  }
  fuzz::Require(*again == value, "what is printed is the same number");
  // Without a suffix the text does not tell that it was binary.
  if (again->format() != value.format()) return;
  fuzz::RequireSame(again->ToString(), text, "the canonical form is its own canonical form");
}

void CheckRounding(const Quantity& value, const Result<Quantity>& rounded, Int128 step) {
  if (!rounded) {
    fuzz::Require(rounded.error().Is(base::ErrorCode::kInvalidArgument), "does not fit");
    return;
  }
  fuzz::Require(rounded->nanos() % step == 0, "a multiple");
  const Int128 more = Magnitude(rounded->nanos()) - Magnitude(value.nanos());
  fuzz::Require(more >= 0 && more < step, "away from zero, by less than a step");
  fuzz::Require(rounded->Sign() == value.Sign(), "rounding keeps the sign");
}

void CheckPair(const Quantity& a, const Quantity& b) {
  fuzz::Require((a < b) == (b > a) && (a == b) == (b == a), "one order");
  const Result<Quantity> sum = a.Add(b);
  const Result<Quantity> other = b.Add(a);
  fuzz::Require(sum.has_value() == other.has_value(), "a sum fits whichever comes first");
  if (sum) {
    fuzz::Require(*sum == *other, "addition commutes");
    fuzz::Require(sum->nanos() == a.nanos() + b.nanos(), "the sum is exact");
    fuzz::Require(*sum->Sub(b) == a, "subtraction undoes addition");
    CheckPrinting(*sum);
  }
  const Result<Quantity> difference = a.Sub(b);
  if (difference) {
    fuzz::Require(difference->Sign() == (a < b ? -1 : a > b ? 1 : 0), "the sign is the order");
  }
}

FUZZ_TARGET(quantity) {
  const std::size_t end = input.find('\n');
  const Result<Quantity> a = Quantity::Parse(input.substr(0, end));
  if (!a) return;
  CheckPrinting(*a);
  CheckRounding(*a, a->RoundUpToInteger(), kOne);
  CheckRounding(*a, a->RoundUpToMilli(), kMilli);
  fuzz::Require(a->IsInteger() == (a->nanos() % kOne == 0), "an integer has no fraction");
  const Result<Quantity> twice = a->Mul(2);
  const Result<Quantity> sum = a->Add(*a);
  fuzz::Require(twice.has_value() == sum.has_value() && (!twice || *twice == *sum), "2a = a + a");
  fuzz::Require(*a->Mul(0) == Quantity() && *a->Mul(1) == *a, "nothing and itself");
  if (end == std::string_view::npos) return;
  const Result<Quantity> b = Quantity::Parse(input.substr(end + 1));
  if (b) CheckPair(*a, *b);
}

}  // namespace
