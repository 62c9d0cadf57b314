#include "pkg/api/time.h"

#include <catch2/catch.hpp>

namespace api::time_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_days;

base::WallTime At(int year, unsigned month, unsigned day, std::chrono::nanoseconds of_day) {
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  return base::WallTime(sys_days(date)) +
         std::chrono::duration_cast<base::WallTime::duration>(of_day);
}

TEST_CASE("time: metav1.Time has seconds, MicroTime six digits more", "[api]") {
  const base::WallTime time = At(2026, 1, 2, 3h + 4min + 5s + 987'654'321ns);
  CHECK(FormatTime(time) == "2026-01-02T03:04:05Z");
  CHECK(FormatMicroTime(time) == "2026-01-02T03:04:05.987654Z");
  CHECK(FormatMicroTime(At(2026, 12, 31, 0s)) == "2026-12-31T00:00:00.000000Z");
  CHECK(FormatTime(At(1969, 12, 31, 23h + 59min + 59s + 500ms)) == "1969-12-31T23:59:59Z");
}

TEST_CASE("time: both forms and all offsets are read", "[api]") {
  const base::WallTime time = At(2024, 2, 29, 3h + 4min + 5s);
  for (const char* text :
       {"2024-02-29T03:04:05Z", "2024-02-29t03:04:05z", "2024-02-29T05:04:05+02:00",
        "2024-02-28T21:34:05-05:30", "2024-02-29T03:04:05.000000Z", "2024-02-29T03:04:05.0Z"}) {
    INFO(text);
    const auto parsed = ParseTime(text);
    REQUIRE(parsed.has_value());
    CHECK(*parsed == time);
  }
  CHECK(*ParseTime("2024-02-29T03:04:05.25Z") == time + 250ms);
  CHECK(*ParseTime("2024-02-29T03:04:05.123456789999Z") == time + 123'456'789ns);
}

TEST_CASE("time: an invalid time is refused, and the error quotes it", "[api]") {
  for (const char* text :
       {"", "2024-02-29", "2024-02-29T03:04:05", "2024-02-29 03:04:05Z", "2023-02-29T03:04:05Z",
        "2024-13-01T03:04:05Z", "2024-00-01T03:04:05Z", "2024-02-29T24:00:00Z",
        "2024-02-29T03:60:05Z", "2024-02-29T03:04:60Z", "2024-02-29T03:04:05.Z",
        "2024-02-29T03:04:05Zx", "2024-02-29T03:04:05+2:00", "2024-02-29T03:04:05+24:00",
        "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2261-12-31T23:59:59-00:01",
        "2024-2-29T03:04:05Z", "20240-02-29"}) {
    INFO(text);
    const auto parsed = ParseTime(text);
    REQUIRE(parsed.has_error());
    CHECK(parsed.error().code == base::ErrorCode::kMalformed);
    CHECK(parsed.error().message.find("\"" + std::string(text) + "\"") != std::string::npos);
  }
}

TEST_CASE("time: a written time is read back", "[api]") {
  const base::WallTime time = At(2026, 8, 9, 1h + 123'456us);
  CHECK(*ParseTime(FormatMicroTime(time)) == time);
}

}  // namespace
}  // namespace api::time_test
