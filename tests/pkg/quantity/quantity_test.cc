// Text to number and back, as in apimachinery v0.36.3, pkg/api/resource.

#include "pkg/quantity/quantity.h"

#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace quantity::quantity_test {
namespace {

constexpr Int128 kOne = 1'000'000'000;

std::string ErrorOf(std::string_view text) {
  const base::Result<Quantity> parsed = Quantity::Parse(text);
  if (parsed) return "no error, but " + parsed->ToString();
  CHECK(parsed.error().code == base::ErrorCode::kInvalidArgument);
  return parsed.error().message;
}

Quantity Q(std::string_view text) {
  INFO(text);
  base::Result<Quantity> parsed = Quantity::Parse(text);
  REQUIRE(parsed.has_value());
  return *parsed;
}

struct Example {
  std::vector<std::string> inputs;
  std::string canonical;
  Format format;
  std::string rounded_up;  // Value(), "" where upstream's wraps around
};

const Format kSI = Format::kDecimalSI;
const Format kBinary = Format::kBinarySI;
const Format kExponent = Format::kDecimalExponent;

const std::vector<Example> kExamples = {
    {{"0", "-0", "0.0", "."}, "0", kSI, "0"},
    {{"0Ki", "Ki", ".Ti", "0Ei"}, "0", kBinary, "0"},
    {{"0e3", "e3"}, "0", kExponent, "0"},
    {{"-", "+", "000", "0e100", "-.0", "n", "E"}, "0", Format::kDecimalSI, "0"},
    {{"007"}, "7", kSI, "7"},
    {{"+5"}, "5", kSI, "5"},
    {{"5."}, "5", kSI, "5"},
    {{"5.0"}, "5", kSI, "5"},
    {{"5.001"}, "5001m", kSI, "6"},
    {{"5.0001"}, "5000100u", kSI, "6"},
    {{".5", "0.5"}, "500m", kSI, "1"},
    {{"1.G"}, "1G", kSI, "1G"},
    {{"1000"}, "1k", kSI, "1k"},
    {{"1024"}, "1024", kSI, "1024"},
    {{"1500"}, "1500", kSI, "1500"},
    {{"1500M"}, "1500M", kSI, "1500M"},
    {{"1000000"}, "1M", kSI, "1M"},
    {{"999999"}, "999999", kSI, "999999"},
    {{"1000Ki"}, "1000Ki", kBinary, "1000Ki"},
    {{"1024Ki"}, "1Mi", kBinary, "1Mi"},
    {{"1024Mi"}, "1Gi", kBinary, "1Gi"},
    {{"1.5Gi", "1536Mi"}, "1536Mi", kBinary, "1536Mi"},
    {{"0.5Gi"}, "512Mi", kBinary, "512Mi"},
    {{"0.5Ki"}, "512", kBinary, "512"},
    {{"1.1Ki"}, "1126400m", kBinary, "1127"},
    {{"0.9Ki"}, "921600m", kBinary, "922"},
    {{"0.1Gi"}, "107374182400m", kBinary, "107374183"},
    {{"0.001Ki"}, "1024m", kBinary, "2"},
    {{"100m"}, "100m", kSI, "1"},
    {{"1000m"}, "1", kSI, "1"},
    {{"1500m"}, "1500m", kSI, "2"},
    {{"0.1m", "0.0001"}, "100u", kSI, "1"},
    {{"1000u"}, "1m", kSI, "1"},
    {{"1n", "0.1n"}, "1n", kSI, "1"},
    {{"1e-10", "1e-20"}, "1e-9", kExponent, "1"},
    {{"1.0000000001"}, "1000000001n", kSI, "2"},
    {{"3.14159265358979"}, "3141592654n", kSI, "4"},
    {{"12E6"}, "12e6", kExponent, "12e6"},
    {{"1E3", "1e+3"}, "1e3", kExponent, "1e3"},
    {{"1e0"}, "1", kExponent, "1"},
    {{"1.5e3", "15e2"}, "1500", kExponent, "1500"},
    {{"123e4"}, "1230e3", kExponent, "1230e3"},
    {{"1e19"}, "10e18", kExponent, ""},
    {{"1E"}, "1E", kSI, "1E"},
    {{"10E"}, "10E", kSI, ""},
    {{"999E"}, "999E", kSI, ""},
    {{"9223372036854775808"}, "9223372036854775808", kSI, ""},
    {{"7Ei"}, "7Ei", kBinary, "7Ei"},
    {{"8Ei", "10Ei", "8192Pi"}, "9223372036854775807", kBinary, "9223372036854775807"},
    {{"-8Ei"}, "-9223372036854775807", kBinary, "-9223372036854775807"},
    {{"-100m"}, "-100m", kSI, "-1"},
    {{"-1Gi"}, "-1Gi", kBinary, "-1Gi"},
    // Rounded away from zero, like all others; upstream loses the sign here.
    {{"-0.1n"}, "-1n", kSI, "-1"},
};

TEST_CASE("quantity: the examples parse to the canonical form and format", "[quantity]") {
  for (const Example& example : kExamples) {
    for (const std::string& input : example.inputs) {
      INFO("input " << input);
      const Quantity parsed = Q(input);
      CHECK(parsed.ToString() == example.canonical);
      if (input != "0e100") CHECK(parsed.format() == example.format);
      if (example.rounded_up.empty()) continue;
      const Quantity rounded = parsed.RoundUpToInteger();
      CHECK(rounded.ToString() == example.rounded_up);
      CHECK(rounded.IsInteger());
    }
  }
}

TEST_CASE("quantity: an API server that stores the text stores the value", "[quantity]") {
  // Upstream prints 1000E, and 500E + 500E, as "1": it has no suffix for 10^21 and drops it.
  CHECK(Q("1000E").ToString() == "1e21");
  CHECK(Q("1000000000000000000000").ToString() == "1e21");
  CHECK(Q("500E").Add(Q("500E")).ToString() == "1e21");
  CHECK(Q("-1000E").ToString() == "-1e21");
  CHECK(Q("1001E").ToString() == "1001E");
  CHECK(Q("1000E").nanos() == kOne * kOne * kOne * 1000);
  // Upstream prints 14Ei, which it reads as 2^63 - 1: only a sum can be larger.
  CHECK(Q("7Ei").Add(Q("7Ei")).ToString() == "16140901064495857664");
  CHECK(Q("4Ei").Mul(1024).ToString() == "4722366482869645213696");
  CHECK(Q("7Ei").Add(Q("7Ei")).format() == kBinary);
  CHECK(Q("7Ei").Add(Q("1023Pi")).ToString() == "8191Pi");
}

TEST_CASE("quantity: each of the three errors is reported", "[quantity]") {
  for (const char* text : {"1K", "1ki", "1mi", "1Mm", "1e", "1e+", "--1", "1Kii", "1i", "1-",
                           "1eE3", "1e99999999999999999999"}) {
    INFO(text);
    CHECK(ErrorOf(text) == "unable to parse quantity's suffix");
  }
  for (const char* text : {"", " 1", "1 Gi", "1Gi ", "1.2.3", "0x10", "1e1.5", "1e3Ki", "NaN",
                           "Inf", "1,000", "1_000", "1\n", "١"}) {
    INFO(text);
    CHECK(ErrorOf(text) ==
          "quantities must match the regular expression "
          "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  }
  for (const char* text : {"e-30", "+e-30", ".E-10", "Pi", "-.Ei"}) {
    INFO(text);
    CHECK(ErrorOf(text) == "unable to parse numeric part of quantity");
  }
}

TEST_CASE("quantity: a number that does not fit is saturated", "[quantity]") {
  // Upstream reads 1e4294967296 as 1, because it cuts exponents off.
  for (const std::string text :
       {"1e30", "1e100", "1e2147483648", "1e4294967296", "1e9223372036854775807",
        "170141183460469231731687303715.884105728", "999999999999E", "0.000001e9223372036854775807",
        "1000000000000000000000000000000000000000000000000000e-9"}) {
    INFO(text);
    CHECK(Q(text) == Quantity::Saturated());
    CHECK(Q(text).IsSaturated());
    CHECK(Q(text).ToString() == "1e30");
    CHECK(Q("-" + text).ToString() == "-1e30");
    CHECK(Q("-" + text).IsSaturated());
  }
  CHECK(Q("1e30").IsInteger());
  CHECK(Q("1e30") == Q("1e300"));
  CHECK(Q("1e30") > Q("170141183460469231731687303715.884105726"));
  CHECK(Q("-1e30") < Q("-170141183460469231731687303715.884105726"));
}

TEST_CASE("quantity: the limits themselves are exact", "[quantity]") {
  const Quantity greatest = Q("170141183460469231731687303715884105726n");
  CHECK(greatest.nanos() == std::numeric_limits<Int128>::max() - 1);
  CHECK(greatest.ToString() == "170141183460469231731687303715884105726n");
  CHECK_FALSE(greatest.IsSaturated());
  CHECK(Q("170141183460469231731687303715884105727n").IsSaturated());
  CHECK(Quantity::Saturated().nanos() == std::numeric_limits<Int128>::max());
  CHECK(Q("-1e30").nanos() == -std::numeric_limits<Int128>::max());
  CHECK(Q("0." + std::string(40, '0') + "1e40").ToString() == "100e-3");
  CHECK(Q("1" + std::string(60, '0') + "e-60") == Quantity::FromInt(1));
  CHECK(Q("1e-9223372036854775808").ToString() == "1e-9");
  CHECK(Q("0e9223372036854775807").IsZero());
}

TEST_CASE("quantity: a fraction of any length is rounded away from zero once", "[quantity]") {
  const std::string zeros(100, '0');
  CHECK(Q("1." + zeros + "1").ToString() == "1000000001n");
  CHECK(Q("-1." + zeros + "1").ToString() == "-1000000001n");
  CHECK(Q("1." + zeros).ToString() == "1");
  CHECK(Q("1." + zeros + "1Ki").ToString() == "1024000000001n");
  CHECK(Q("0." + zeros + "1Ei").ToString() == "1n");
  CHECK(Q("0." + zeros + "1Ei").format() == Format::kDecimalSI);
  CHECK(Q("0.0009765625Ki").ToString() == "1");
  CHECK(Q("0." + std::string(60, '9') + "Ei").nanos() == (Int128{1} << 60) * kOne);
}

// A number of any magnitude, often with many trailing zeros.
Int128 RandomNanos(std::mt19937_64& random) {
  Int128 nanos = (static_cast<Int128>(random() >> 1) << 64 | random()) >> (random() % 127);
  for (auto n = random() % 12; n > 0 && nanos < std::numeric_limits<Int128>::max() / 1024; --n) {
    nanos *= random() % 2 == 0 ? 1000 : 1024;
  }
  if (random() % 2 == 0) nanos -= nanos % kOne;
  return random() % 2 == 0 ? nanos : -nanos;
}

// "-17e-9": formatted here, so that printing is not tested with itself.
std::string InNanos(Int128 nanos) {
  std::string text;
  for (Int128 rest = nanos; rest != 0; rest /= 10) {
    const int digit = static_cast<int>(rest % 10);
    text.insert(text.begin(), static_cast<char>('0' + (digit < 0 ? -digit : digit)));
  }
  return (nanos < 0 ? "-" : "") + text + "e-9";
}

TEST_CASE("quantity: printing and parsing again gives the value", "[quantity]") {
  std::mt19937_64 random(20240607);
  for (int i = 0; i < 20'000; ++i) {
    const Int128 nanos = RandomNanos(random);
    REQUIRE(Q(InNanos(nanos)).nanos() == nanos);
    for (const Format format : {kSI, kBinary, kExponent}) {
      // The sum has the format of the first summand.
      const Quantity more = Quantity::FromInt(1, format).Add(Q(InNanos(nanos)));
      const Quantity value = more.Sub(Quantity::FromInt(1));
      const std::string text = value.ToString();
      INFO(InNanos(nanos) << " printed as " << text);
      REQUIRE(Q(text) == value);
      // Without a binary suffix the format is lost, and 1024000 is read as 1024k.
      if (format != kBinary) REQUIRE(Q(text).ToString() == text);
    }
  }
}

}  // namespace
}  // namespace quantity::quantity_test
