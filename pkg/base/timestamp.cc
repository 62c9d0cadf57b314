#include "pkg/base/timestamp.h"

#include <chrono>
#include <cstdio>

namespace base {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

// Reads a text from its front; `ok` stays false once something else stood there.
struct Reader {
  std::string_view rest;
  bool ok = true;

  int Number(std::size_t digits, int least, int most) {
    int value = 0;
    if (rest.size() < digits) return Fail();
    for (std::size_t i = 0; i < digits; ++i) {
      if (rest[i] < '0' || rest[i] > '9') return Fail();
      value = value * 10 + (rest[i] - '0');
    }
    rest.remove_prefix(digits);
    if (value < least || value > most) return Fail();
    return value;
  }
  bool Accept(std::string_view any_of) {
    if (rest.empty() || any_of.find(rest[0]) == std::string_view::npos) return false;
    rest.remove_prefix(1);
    return true;
  }
  void Expect(std::string_view any_of) {
    if (!Accept(any_of)) Fail();
  }
  int Fail() {
    ok = false;
    return 0;
  }
};

nanoseconds ReadFraction(Reader& reader) {
  if (!reader.Accept(".,")) return {};
  if (reader.rest.empty() || reader.rest[0] < '0' || reader.rest[0] > '9') reader.Fail();
  std::int64_t nanos = 0;
  for (std::int64_t unit = 100'000'000;
       !reader.rest.empty() && reader.rest[0] >= '0' && reader.rest[0] <= '9'; unit /= 10) {
    nanos += (reader.rest[0] - '0') * unit;
    reader.rest.remove_prefix(1);
  }
  return nanoseconds(nanos);
}

seconds ReadOffset(Reader& reader) {
  if (reader.Accept("Zz")) return {};
  const bool west = reader.Accept("-");
  if (!west) reader.Expect("+");
  const hours of_hours(reader.Number(2, 0, 23));
  reader.Expect(":");
  const seconds offset = of_hours + minutes(reader.Number(2, 0, 59));
  return west ? -offset : offset;
}

}  // namespace

std::optional<WallTime> ParseTimestamp(std::string_view text) {
  Reader reader{text};
  const std::chrono::year year(reader.Number(4, 1678, 2261));
  reader.Expect("-");
  const std::chrono::month month(static_cast<unsigned>(reader.Number(2, 1, 12)));
  reader.Expect("-");
  const std::chrono::day day(static_cast<unsigned>(reader.Number(2, 1, 31)));
  reader.Expect("Tt");
  const hours hour(reader.Number(2, 0, 23));
  reader.Expect(":");
  const minutes minute(reader.Number(2, 0, 59));
  reader.Expect(":");
  const seconds second(reader.Number(2, 0, 60));
  const nanoseconds fraction = ReadFraction(reader);
  const seconds offset = ReadOffset(reader);
  const auto date = year / month / day;
  if (!reader.ok || !reader.rest.empty() || !date.ok()) return std::nullopt;
  return WallTime(std::chrono::sys_days(date)) + hour + minute + second + fraction - offset;
}

std::string FormatTimestamp(WallTime time) {
  const auto day = std::chrono::floor<days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<seconds>(time) - day);
  char text[64];
  std::snprintf(text, sizeof(text), "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text;
}

std::string FormatMicroTimestamp(WallTime time) {
  const auto fraction = time - std::chrono::floor<seconds>(time);
  char text[16];
  std::snprintf(text, sizeof(text), ".%06dZ",
                static_cast<int>(std::chrono::floor<std::chrono::microseconds>(fraction).count()));
  std::string whole = FormatTimestamp(time);
  whole.pop_back();
  return whole + text;
}

}  // namespace base
