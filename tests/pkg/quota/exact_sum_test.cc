#include "pkg/quota/exact_sum.h"

#include <algorithm>
#include <random>

#include "tests/pkg/quota/quota_testing.h"

namespace quota::exact_sum_test {
namespace {

using quantity::Format;
using quantity::Int128;

Quantity Of(std::string_view text) { return Quantity::Parse(text).value(); }

TEST_CASE("exact sum: parts come and go in any order", "[quota]") {
  std::mt19937_64 random(7);
  std::vector<std::pair<Quantity, std::int64_t>> parts;
  ExactSum sum;
  for (int i = 0; i < 2'000; ++i) {
    const Int128 nanos = (static_cast<Int128>(random()) << 62) - static_cast<Int128>(random());
    const auto times = static_cast<std::int64_t>(random() % 2'000'000);
    parts.emplace_back(Quantity::FromNanos(i % 2 == 0 ? nanos : -nanos, Format::kBinarySI), times);
    sum.Add(parts.back().first, times);
  }
  const ExactSum before = sum;
  sum.Add(Of("1e29"), 1'000'000'000'000);
  CHECK_FALSE(sum == before);
  sum.Add(Of("1e29"), -1'000'000'000'000);
  CHECK(sum == before);
  std::ranges::shuffle(parts, random);
  for (const auto& [amount, times] : parts) sum.Add(amount, -times);
  CHECK(sum.IsZero());
  CHECK(sum == ExactSum());
}

TEST_CASE("exact sum: it reads as the sum of its parts", "[quota]") {
  ExactSum sum;
  CHECK(sum.Get().ToString() == "0");
  sum.Add(Of("250m"), 3);
  sum.Add(Of("-1"), 2);
  CHECK(sum.Get().ToString() == "-1250m");
  sum.Add(Of("2"), 1);
  CHECK(sum.Get().ToString() == "750m");
  // Above 2^64 nanos.
  sum.Add(Of("1e18"), 10);
  CHECK(sum.Get() == Of("1e19").Add(Of("750m")));
}

TEST_CASE("exact sum: it is saturated while a part is, and as long as it does not fit", "[quota]") {
  ExactSum sum;
  sum.Add(Of("3"), 1);
  sum.Add(Of("1e30"), 2);
  CHECK(sum.Get().IsSaturated());
  sum.Add(Of("1e30"), -1);
  CHECK(sum.Get().IsSaturated());
  CHECK_FALSE(sum.IsZero());
  sum.Add(Of("1e30"), -1);
  CHECK(sum.Get() == Of("3"));
  sum.Add(Of("1e29"), 2);
  CHECK(sum.Get().IsSaturated());
  CHECK(sum.Get().Sign() == 1);
  sum.Add(Of("1e29"), -4);
  CHECK(sum.Get().IsSaturated());
  CHECK(sum.Get().Sign() == -1);
  sum.Add(Of("1e29"), 2);
  CHECK(sum.Get() == Of("3"));
}

TEST_CASE("exact sum: most of its parts decide about the format", "[quota]") {
  ExactSum sum;
  sum.Add(Of("1Gi"), 2);
  sum.Add(Of("0"), 9);
  sum.Add(Of("1G"), 1);
  CHECK(sum.Get().format() == Format::kBinarySI);
  sum.Add(Of("1G"), 3);
  CHECK(sum.Get().format() == Format::kDecimalSI);
  sum.Add(Of("1G"), -4);
  CHECK(sum.Get().ToString() == "2Gi");
}

TEST_CASE("exact sums: a name is there as long as it has parts", "[quota]") {
  ExactSums sums;
  sums.Add(List({{"cpu", "1"}, {"pods", "2"}}), 1);
  sums.Add(List({{"cpu", "2"}}), 1);
  CHECK(sums.Get().ToString() == "cpu=3,pods=2");
  sums.Add(List({{"cpu", "1"}, {"pods", "2"}}), -1);
  CHECK(sums.Get().ToString() == "cpu=2");
  sums.Add(List({{"cpu", "2"}}), -1);
  CHECK(sums.empty());
}

}  // namespace
}  // namespace quota::exact_sum_test
