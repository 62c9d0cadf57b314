#include "pkg/api/time.h"

#include <cstdio>
#include <optional>

namespace api {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;
using base::WallTime;
using std::chrono::microseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::year_month_day;

struct Calendar {
  year_month_day date;
  std::chrono::hh_mm_ss<microseconds> time;
};

Calendar Split(WallTime time) {
  const auto micros = std::chrono::floor<microseconds>(time);
  const auto day = std::chrono::floor<std::chrono::days>(micros);
  return {year_month_day(day), std::chrono::hh_mm_ss<microseconds>(micros - day)};
}

// Formats "2026-01-02T03:04:05", without a zone.
std::string FormatSeconds(const Calendar& calendar) {
  char text[64];
  const int length = std::snprintf(
      text, sizeof(text), "%04d-%02u-%02uT%02ld:%02ld:%02ld",
      static_cast<int>(calendar.date.year()), static_cast<unsigned>(calendar.date.month()),
      static_cast<unsigned>(calendar.date.day()), calendar.time.hours().count(),
      calendar.time.minutes().count(), calendar.time.seconds().count());
  return {text, static_cast<std::size_t>(length)};
}

// Reads from the front of a text, and remembers whether anything was unexpected.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}
  [[nodiscard]] bool Good() const { return good_; }
  [[nodiscard]] bool AtEnd() const { return rest_.empty(); }

  int Digits(std::size_t count) {
    int value = 0;
    for (; count > 0; --count) {
      const char c = Next();
      if (c < '0' || c > '9') good_ = false;
      value = value * 10 + (c - '0');
    }
    return value;
  }

  void Expect(char a, char b) {
    const char c = Next();
    if (c != a && c != b) good_ = false;
  }

  // Reads ".25" if there is a fraction; drops digits beyond nanoseconds.
  nanoseconds Fraction() {
    if (rest_.empty() || rest_.front() != '.') return nanoseconds(0);
    Next();
    nanoseconds::rep value = 0;
    nanoseconds::rep unit = 100'000'000;
    const std::size_t before = rest_.size();
    while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
      value += unit * (Next() - '0');
      unit /= 10;
    }
    if (rest_.size() == before) good_ = false;
    return nanoseconds(value);
  }

  // Reads "Z" or "+02:00": how far local time is ahead of UTC.
  seconds Offset() {
    const char sign = Next();
    if (sign == 'Z' || sign == 'z') return seconds(0);
    const int hours = Digits(2);
    Expect(':', ':');
    const int minutes = Digits(2);
    if ((sign != '+' && sign != '-') || hours > 23 || minutes > 59) good_ = false;
    const seconds ahead = std::chrono::hours(hours) + std::chrono::minutes(minutes);
    return sign == '-' ? -ahead : ahead;
  }

 private:
  char Next() {
    if (rest_.empty()) {
      good_ = false;
      return '\0';
    }
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  std::string_view rest_;
  bool good_ = true;
};

Error Bad(std::string_view text, std::string_view why) {
  return {
      .code = ErrorCode::kMalformed,
      .message = "invalid time \"" + std::string(text.substr(0, 64)) + "\": " + std::string(why)};
}

}  // namespace

std::string FormatTime(WallTime time) { return FormatSeconds(Split(time)) + "Z"; }

std::string FormatMicroTime(WallTime time) {
  const Calendar calendar = Split(time);
  char fraction[16];
  const int length = std::snprintf(fraction, sizeof(fraction), ".%06dZ",
                                   static_cast<int>(calendar.time.subseconds().count()));
  return FormatSeconds(calendar) + std::string(fraction, static_cast<std::size_t>(length));
}

Result<WallTime> ParseTime(std::string_view text) {
  Reader reader(text);
  const std::chrono::year year(reader.Digits(4));
  reader.Expect('-', '-');
  const std::chrono::month month(static_cast<unsigned>(reader.Digits(2)));
  reader.Expect('-', '-');
  const std::chrono::day day(static_cast<unsigned>(reader.Digits(2)));
  reader.Expect('T', 't');
  const int hour = reader.Digits(2);
  reader.Expect(':', ':');
  const int minute = reader.Digits(2);
  reader.Expect(':', ':');
  const int second = reader.Digits(2);
  const nanoseconds fraction = reader.Fraction();
  const seconds ahead = reader.Offset();
  if (!reader.Good() || !reader.AtEnd()) return Bad(text, "not of the form 2026-01-02T03:04:05Z");
  const year_month_day date(year, month, day);
  if (!date.ok() || hour > 23 || minute > 59 || second > 59)
    return Bad(text, "no such date or time");
  const auto whole = sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
                     seconds(second) - ahead;
  // The year in UTC must be printable, so that FormatTime() and ParseTime() are inverse.
  const auto year_of_whole = year_month_day(std::chrono::floor<std::chrono::days>(whole)).year();
  if (year_of_whole < std::chrono::year(1678) || year_of_whole > std::chrono::year(2261)) {
    return Bad(text, "out of range");
  }
  return WallTime(whole) + std::chrono::duration_cast<WallTime::duration>(fraction);
}

}  // namespace api
