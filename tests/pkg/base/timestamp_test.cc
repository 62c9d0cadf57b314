#include "pkg/base/timestamp.h"

#include <catch2/catch.hpp>
#include <chrono>

namespace base {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const WallTime kTime = WallTime(seconds(1'714'557'600));  // 2024-05-01T10:00:00Z

TEST_CASE("timestamp: what API servers write is read", "[base]") {
  CHECK(ParseTimestamp("2024-05-01T10:00:00Z") == kTime);
  CHECK(ParseTimestamp("2024-05-01T12:30:00+02:30") == kTime);
  CHECK(ParseTimestamp("2024-05-01T03:00:00-07:00") == kTime);
  CHECK(ParseTimestamp("2024-05-01T10:00:00.250000Z") == kTime + milliseconds(250));
  CHECK(ParseTimestamp("2024-05-01T10:00:00.1234567899999Z") ==
        kTime + std::chrono::nanoseconds(123'456'789));
  CHECK(ParseTimestamp("1970-01-01T00:00:00Z") == WallTime());
  CHECK(ParseTimestamp("2024-02-29T00:00:00Z").has_value());
}

TEST_CASE("timestamp: what is none is refused", "[base]") {
  for (const char* text :
       {"", "2024-05-01", "2024-05-01T10:00:00", "2024-05-01T10:00:00Zx", "2024-05-01 10:00:00Z",
        "2023-02-29T00:00:00Z", "2024-13-01T00:00:00Z", "2024-05-01T24:00:00Z",
        "2024-05-01T10:00:00.Z", "2024-05-01T10:00:00+0200", "0001-01-01T00:00:00Z",
        "9999-01-01T00:00:00Z", "+024-05-01T10:00:00Z"}) {
    INFO(text);
    CHECK_FALSE(ParseTimestamp(text).has_value());
  }
}

TEST_CASE("timestamp: printing is what parsing reads", "[base]") {
  CHECK(FormatTimestamp(kTime + milliseconds(999)) == "2024-05-01T10:00:00Z");
  CHECK(FormatMicroTimestamp(kTime + milliseconds(250)) == "2024-05-01T10:00:00.250000Z");
  CHECK(FormatTimestamp(WallTime(seconds(-1))) == "1969-12-31T23:59:59Z");
  CHECK(ParseTimestamp(FormatMicroTimestamp(kTime)) == kTime);
}

}  // namespace
}  // namespace base
