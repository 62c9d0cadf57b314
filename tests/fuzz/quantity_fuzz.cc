// Two quantities, one on each line: parsing, printing and arithmetic are consistent.

#include "pkg/quantity/quantity.h"

#include "tests/fuzz/target.h"

namespace {

using base::Result;
using quantity::Int128;
using quantity::Quantity;

constexpr Int128 kMilli = 1'000'000;
constexpr Int128 kOne = 1'000'000'000;

Int128 Magnitude(Int128 value) { return value < 0 ? -value : value; }

void CheckPrinting(const Quantity& value) {
  const std::string text = value.ToString();
  const Result<Quantity> again = Quantity::Parse(text);
  fuzz::Require(again.has_value(), "what is printed can be read");
  fuzz::Require(*again == value, "what is printed is the same number");
  // The text does not always tell the format.
  if (again->format() != value.format()) return;
  fuzz::RequireSame(again->ToString(), text, "the canonical form is its own canonical form");
}

void CheckRounding(const Quantity& value, const Quantity& rounded, Int128 step) {
  fuzz::Require(rounded.IsSaturated() || rounded.nanos() % step == 0, "a multiple");
  const Int128 more = Magnitude(rounded.nanos()) - Magnitude(value.nanos());
  fuzz::Require(more >= 0 && more < step, "away from zero, by less than a step");
  fuzz::Require(rounded.Sign() == value.Sign(), "rounding keeps the sign");
}

void CheckPair(const Quantity& a, const Quantity& b) {
  fuzz::Require((a < b) == (b > a) && (a == b) == (b == a), "one order");
  const Quantity sum = a.Add(b);
  fuzz::Require(sum == b.Add(a), "addition commutes");
  CheckPrinting(sum);
  const Quantity difference = a.Sub(b);
  if (a.IsSaturated() || b.IsSaturated()) {
    fuzz::Require(sum.IsSaturated() && difference.IsSaturated(), "what did not fit stays so");
    return;
  }
  fuzz::Require(difference.Sign() == (a < b ? -1 : a > b ? 1 : 0), "the sign is the order");
  if (sum.IsSaturated()) {
    fuzz::Require(a.Sign() == sum.Sign() && b.Sign() == sum.Sign(), "saturated in its direction");
    return;
  }
  fuzz::Require(sum.nanos() == a.nanos() + b.nanos(), "the sum is exact");
  fuzz::Require(sum.Sub(b) == a, "subtraction undoes addition");
}

FUZZ_TARGET(quantity) {
  const std::size_t end = input.find('\n');
  const Result<Quantity> a = Quantity::Parse(input.substr(0, end));
  if (!a) return;
  CheckPrinting(*a);
  CheckRounding(*a, a->RoundUpToInteger(), kOne);
  CheckRounding(*a, a->RoundUpToMilli(), kMilli);
  fuzz::Require(a->IsInteger() == (a->IsSaturated() || a->nanos() % kOne == 0),
                "an integer has no fraction");
  fuzz::Require(a->Mul(2) == a->Add(*a), "2a = a + a");
  fuzz::Require(a->Mul(0) == Quantity() && a->Mul(1) == *a, "nothing and itself");
  if (end == std::string_view::npos) return;
  const Result<Quantity> b = Quantity::Parse(input.substr(end + 1));
  if (b) CheckPair(*a, *b);
}

}  // namespace
