#include "pkg/base/duration.h"

#include <catch2/catch.hpp>
#include <limits>

namespace base::duration_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

TEST_CASE("duration: Go's notation is read", "[base]") {
  const std::pair<const char*, nanoseconds> cases[] = {
      {"0", 0ns},
      {"5m", 5min},
      {"1h30m", 90min},
      {"250ms", 250ms},
      {"1.5s", 1500ms},
      {".5s", 500ms},
      {"-2m", -2min},
      {"+3s", 3s},
      {"7us", 7us},
      {"7µs", 7us},
      {"9ns", 9ns},
      {"0s", 0ns},
      {"1h0m0.001s", 1h + 1ms},
      {"100000h", 100000h},
      {"1.s", 1s},
  };
  for (const auto& [text, duration] : cases) {
    INFO(text);
    const auto parsed = ParseDuration(text);
    REQUIRE(parsed.has_value());
    CHECK(*parsed == duration);
  }
}

TEST_CASE("duration: an invalid duration is refused, and the error quotes it", "[base]") {
  for (const char* text : {"", "5", "m", "5 m", "5mm", "1e3s", "1..5s", ".s", "-", "5m3", "5d",
                           "9999999999h", "--5s", "abc"}) {
    INFO(text);
    const auto parsed = ParseDuration(text);
    REQUIRE(parsed.has_error());
    CHECK(parsed.error().code == ErrorCode::kInvalidArgument);
    CHECK(parsed.error().message.find("\"" + std::string(text) + "\"") != std::string::npos);
  }
}

TEST_CASE("duration: it is printed exactly as in Go", "[base]") {
  CHECK(FormatDuration(0ns) == "0s");
  CHECK(FormatDuration(90min) == "1h30m0s");
  CHECK(FormatDuration(5min) == "5m0s");
  CHECK(FormatDuration(250ms) == "250ms");
  CHECK(FormatDuration(1500us) == "1.5ms");
  CHECK(FormatDuration(7us) == "7µs");
  CHECK(FormatDuration(999ns) == "999ns");
  CHECK(FormatDuration(-1s) == "-1s");
  CHECK(FormatDuration(1s + 1ns) == "1.000000001s");
  CHECK(FormatDuration(2h + 50ms) == "2h0m0.05s");
  CHECK(FormatDuration(nanoseconds::max()) == "2562047h47m16.854775807s");
  CHECK(FormatDuration(nanoseconds::min()) == "-2562047h47m16.854775808s");
}

TEST_CASE("duration: a printed duration is read back", "[base]") {
  for (const nanoseconds duration : {nanoseconds(1h + 2min + 3s + 4ms), nanoseconds(1'234'567ns),
                                     nanoseconds(-45s), nanoseconds(365 * 24h + 1ms)}) {
    const auto parsed = ParseDuration(FormatDuration(duration));
    REQUIRE(parsed.has_value());
    CHECK(*parsed == duration);
  }
}

}  // namespace
}  // namespace base::duration_test
