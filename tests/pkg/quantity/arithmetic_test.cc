// Sums, differences, rounding and order (apimachinery v0.36.3, pkg/api/resource/quantity.go).

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/quantity/quantity.h"

namespace quantity::arithmetic_test {
namespace {

Quantity Q(std::string_view text) {
  INFO(text);
  base::Result<Quantity> parsed = Quantity::Parse(text);
  REQUIRE(parsed.has_value());
  return *parsed;
}

struct Expression {
  std::string left;
  char op;
  std::string right;
  std::string result;
  Format format;
};

TEST_CASE("quantity: a sum has the format of its left side, unless that is zero", "[quantity]") {
  const Expression expressions[] = {
      {"1", '+', "1Gi", "1073741825", Format::kDecimalSI},
      {"0", '+', "1Gi", "1Gi", Format::kBinarySI},
      {"0Ki", '+', "1", "1", Format::kDecimalSI},
      {"0", '+', "0Ki", "0", Format::kBinarySI},
      {"1Gi", '+', "1G", "2073741824", Format::kBinarySI},
      {"500M", '+', "500Mi", "1024288k", Format::kDecimalSI},
      {"500Mi", '+', "500M", "1024288000", Format::kBinarySI},
      {"1e3", '+', "100m", "1000100e-3", Format::kDecimalExponent},
      {"100m", '+', "1e3", "1000100m", Format::kDecimalSI},
      {"1Gi", '+', "100m", "1073741824100m", Format::kBinarySI},
      {"999m", '+', "1m", "1", Format::kDecimalSI},
      {"7Ei", '+', "7Ei", "16140901064495857664", Format::kBinarySI},
      {"9223372036854775807", '+', "1", "9223372036854775808", Format::kDecimalSI},
      {"1Gi", '-', "1Gi", "0", Format::kBinarySI},
      {"1Gi", '-', "1", "1073741823", Format::kBinarySI},
      {"1Ki", '-', "1", "1023", Format::kBinarySI},
      {"0", '-', "1Gi", "-1Gi", Format::kBinarySI},
      {"1Gi", '-', "1G", "73741824", Format::kBinarySI},
      {"5", '-', "500m", "4500m", Format::kDecimalSI},
      {"1023", '+', "1025", "2048", Format::kDecimalSI},
  };
  for (const Expression& e : expressions) {
    INFO(e.left << ' ' << e.op << ' ' << e.right);
    const Quantity result = e.op == '+' ? Q(e.left).Add(Q(e.right)) : Q(e.left).Sub(Q(e.right));
    CHECK(result.ToString() == e.result);
    CHECK(result.format() == e.format);
  }
}

TEST_CASE("quantity: a binary quantity keeps its format below 1Ki", "[quantity]") {
  const Quantity fallen = Q("1Ki").Sub(Q("1"));
  CHECK(fallen.ToString() == "1023");
  CHECK(fallen.Add(Q("1025")).ToString() == "2Ki");
}

TEST_CASE("quantity: order is by value, whatever the notation", "[quantity]") {
  CHECK(Q("1Gi") == Q("1073741824"));
  CHECK(Q("1") == Q("1000m"));
  CHECK(Q("1e3") == Q("1k"));
  CHECK(Q("0Ki") == Quantity());
  CHECK(Q("1G") < Q("1Gi"));
  CHECK(Q("-1") < Q("-999m"));
  CHECK(Q("-1n").Sign() == -1);
  CHECK(Q("0").Sign() == 0);
  CHECK(Q("1n").Sign() == 1);
}

TEST_CASE("quantity: what does not fit is saturated and stays so", "[quantity]") {
  const Quantity most = Q("1e30");
  const Quantity least = Q("-1e30");
  const Quantity greatest = Q("170141183460469231731687303715884105726n");
  CHECK(greatest.Add(Q("1n")) == most);
  CHECK(greatest.Add(greatest) == most);
  CHECK(Quantity().Sub(greatest).Sub(Q("1n")) == least);
  CHECK(greatest.Mul(2) == most);
  CHECK(greatest.Mul(-2) == least);
  CHECK(Q("1E").Mul(std::numeric_limits<std::int64_t>::max()) == most);
  CHECK(Q("1E").Mul(std::numeric_limits<std::int64_t>::min()) == least);
  CHECK(greatest.RoundUpToInteger() == most);
  CHECK(greatest.RoundUpToMilli() == most);
  CHECK(most.RoundUpToInteger() == most);
  CHECK(least.RoundUpToMilli() == least);
}

TEST_CASE("quantity: nothing makes a saturated amount small", "[quantity]") {
  const Quantity most = Q("1e30");
  const Quantity least = Q("-1e30");
  for (const Quantity& any : {Quantity(), Q("5"), Q("-5"), Q("1e29"), most, least}) {
    INFO(any.ToString());
    CHECK(most.Add(any) == most);
    CHECK(any.Add(most) == most);
    CHECK(most.Sub(any) == most);
    CHECK(any.Sub(least) == most);
  }
  CHECK(least.Add(Q("5")) == least);
  CHECK(Q("5").Sub(most) == least);
  CHECK(most.Mul(3) == most);
  CHECK(most.Mul(-1) == least);
  CHECK(most.Mul(0).IsZero());
  CHECK(least.Mul(-3) == most);
  CHECK(Q("1Ki").Add(most).format() == Format::kBinarySI);
  CHECK(Q("1Ki").Add(most).ToString() == "1e30");
}

TEST_CASE("quantity: multiplication keeps value and format", "[quantity]") {
  CHECK(Q("1536Mi").Mul(2).ToString() == "3Gi");
  CHECK(Q("100m").Mul(50'000).ToString() == "5k");
  CHECK(Q("1Gi").Mul(0).format() == Format::kBinarySI);
  CHECK(Q("1").Mul(-3).ToString() == "-3");
  CHECK(Quantity::FromInt(std::numeric_limits<std::int64_t>::min()).ToString() ==
        "-9223372036854775808");
}

// |a * b| / 10^9, rounded up and at most kMost, by hand: in digits of 32 bits.
Int128 ProductOf(Int128 a, Int128 b) {
  __extension__ typedef unsigned __int128 Uint128;
  constexpr std::size_t kDigits = 4;
  constexpr std::uint64_t kOne = 1'000'000'000;
  const auto digit = [](Int128 value, std::size_t index) {
    const auto magnitude = static_cast<Uint128>(value < 0 ? -value : value);
    return static_cast<std::uint64_t>(magnitude >> (32 * index)) & 0xffffffffU;
  };
  std::vector<std::uint64_t> product(2 * kDigits);  // the lowest first
  for (std::size_t i = 0; i < kDigits; ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < kDigits; ++j) {
      carry += product[i + j] + digit(a, i) * digit(b, j);
      product[i + j] = carry & 0xffffffffU;
      carry >>= 32U;
    }
    product[i + kDigits] = carry;
  }
  std::uint64_t rest = 0;
  Int128 quotient = 0;
  for (std::size_t i = 2 * kDigits; i-- > 0;) {
    rest = rest << 32U | product[i];
    if (quotient >> 95 != 0) return kMost;
    quotient = quotient << 32U | static_cast<Int128>(rest / kOne);
    rest %= kOne;
  }
  return rest != 0 && quotient != kMost ? quotient + 1 : quotient;
}

void CheckProduct(Int128 a, Int128 b) {
  const Quantity left = Quantity::FromNanos(a, Format::kBinarySI);
  const Quantity right = Quantity::FromNanos(b, Format::kDecimalSI);
  const bool saturated = (left.IsSaturated() && b != 0) || (right.IsSaturated() && a != 0);
  const Int128 magnitude = saturated ? kMost : ProductOf(a, b);
  const Quantity product = left.Mul(right);
  INFO(left.ToString() << " * " << right.ToString());
  REQUIRE(product.nanos() == ((a < 0) != (b < 0) ? -magnitude : magnitude));
  REQUIRE(product.format() == Format::kBinarySI);
  REQUIRE(product == right.Mul(left));
}

TEST_CASE("quantity: a product of quantities is exact and rounded away from zero", "[quantity]") {
  CHECK(Q("1536Mi").Mul(Q("2")).ToString() == "3Gi");
  CHECK(Q("2").Mul(Q("1536Mi")).ToString() == "3221225472");
  CHECK(Q("500m").Mul(Q("500m")).ToString() == "250m");
  CHECK(Q("1n").Mul(Q("1n")).ToString() == "1n");
  CHECK(Q("-1n").Mul(Q("1n")).ToString() == "-1n");
  CHECK(Q("1e30").Mul(Q("1n")).IsSaturated());
  CHECK(Q("1e30").Mul(Q("0")).IsZero());
  CHECK(Q("-1e30").Mul(Q("1e30")).ToString() == "-1e30");
  CHECK(Q("1e29").Mul(Q("1")).ToString() == "100e27");
}

TEST_CASE("quantity: products of any two quantities are as computed by hand", "[quantity]") {
  std::vector<Int128> edges = {0};
  for (const Int128 near : {Int128{0}, kNanosPerOne, Int128{1} << 63, Int128{1} << 64,
                            kMost / kNanosPerOne, kMost / kNanosPerOne * kNanosPerOne, kMost}) {
    for (const int by : {-2, -1, 0, 1, 2}) {
      if (by > 0 && near > kMost - by) continue;
      edges.push_back(near + by);
      edges.push_back(-(near + by));
    }
  }
  for (const Int128 a : edges) {
    for (const Int128 b : edges) CheckProduct(a, b);
  }
  std::mt19937_64 random(20261129);
  const auto any = [&] {
    Int128 nanos = (static_cast<Int128>(random() >> 1U) << 64 | random()) >> (random() % 127);
    if (random() % 4 == 0) nanos -= nanos % kNanosPerOne;
    if (random() % 4 == 0 && nanos <= kMost - kNanosPerOne) {
      nanos += kNanosPerOne - 1 - nanos % kNanosPerOne;
    }
    return random() % 2 == 0 ? nanos : -nanos;
  };
  for (int i = 0; i < 50'000; ++i) {
    const Int128 a = any();
    // A product that just fits, or just does not.
    const Int128 fits = a == 0 ? 0 : kMost / (a < 0 ? -a : a);
    CheckProduct(a, any());
    CheckProduct(a, fits > kMost / kNanosPerOne ? kMost : fits * kNanosPerOne);
  }
}

TEST_CASE("quantity: rounding goes away from zero and keeps whole amounts", "[quantity]") {
  CHECK(Q("1u").RoundUpToMilli().ToString() == "1m");
  CHECK(Q("0.1n").RoundUpToMilli().ToString() == "1m");
  CHECK(Q("1.0001").RoundUpToMilli().ToString() == "1001m");
  CHECK(Q("-1.0001").RoundUpToMilli().ToString() == "-1001m");
  CHECK(Q("250m").RoundUpToMilli().ToString() == "250m");
  CHECK(Q("1.5Gi").RoundUpToInteger().ToString() == "1536Mi");
  CHECK_FALSE(Q("1500m").IsInteger());
  CHECK(Q("1000m").IsInteger());
}

}  // namespace
}  // namespace quantity::arithmetic_test
