#include "pkg/base/duration.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace base {
namespace {

using std::chrono::nanoseconds;

constexpr std::array<std::pair<std::string_view, double>, 8> kUnits{{
    {"ns", 1.0},
    {"us", 1e3},
    {"µs", 1e3},
    {"μs", 1e3},
    {"ms", 1e6},
    {"s", 1e9},
    {"m", 60e9},
    {"h", 3600e9},
}};

constexpr std::uint64_t kMicrosecond = 1'000;
constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kMinute = 60 * kSecond;
constexpr std::uint64_t kHour = 60 * kMinute;

Error Bad(std::string_view text, std::string_view why) {
  return {.code = ErrorCode::kInvalidArgument,
          .message = "invalid duration \"" + std::string(text) + "\": " + std::string(why)};
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Takes a number such as "1.5" off the front of `rest`; NaN if there is no digit.
double TakeNumber(std::string_view& rest) {
  double value = 0;
  double scale = 0;  // 0 before the decimal point, then 0.1, 0.01, …
  bool any = false;
  for (; !rest.empty(); rest.remove_prefix(1)) {
    if (rest.front() == '.' && scale == 0) {
      scale = 1;
    } else if (!IsDigit(rest.front())) {
      break;
    } else if (scale == 0) {
      value = value * 10 + (rest.front() - '0');
      any = true;
    } else {
      scale /= 10;
      value += scale * (rest.front() - '0');
      any = true;
    }
  }
  return any ? value : std::numeric_limits<double>::quiet_NaN();
}

// Takes the unit off the front of `rest`; 0 if it is unknown. The longest match wins: "ms" before
// "m".
double TakeUnit(std::string_view& rest) {
  std::size_t length = 0;
  while (length < rest.size() && !IsDigit(rest[length]) && rest[length] != '.') ++length;
  for (const auto& [name, factor] : kUnits) {
    if (rest.substr(0, length) == name) {
      rest.remove_prefix(length);
      return factor;
    }
  }
  return 0;
}

// Returns `count` / `unit` (a power of ten) exactly, without trailing zeros: "1.5".
std::string Decimal(std::uint64_t count, std::uint64_t unit) {
  std::string text = std::to_string(count / unit);
  std::string fraction = std::to_string(unit + count % unit).substr(1);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return fraction.empty() ? text : text + "." + fraction;
}

}  // namespace

Result<nanoseconds> ParseDuration(std::string_view text) {
  std::string_view rest = text;
  const bool negative = !rest.empty() && rest.front() == '-';
  if (negative || (!rest.empty() && rest.front() == '+')) rest.remove_prefix(1);
  if (rest == "0") return nanoseconds(0);
  if (rest.empty()) return Bad(text, "a number with a unit is needed, such as 5m");
  double total = 0;
  while (!rest.empty()) {
    const double number = TakeNumber(rest);
    if (std::isnan(number)) return Bad(text, "a number is missing");
    if (rest.empty()) return Bad(text, "a unit is missing (ns, us, ms, s, m, h)");
    const double unit = TakeUnit(rest);
    if (unit == 0) return Bad(text, "unknown unit (ns, us, ms, s, m, h)");
    total += number * unit;
  }
  if (total > 9.2e18) return Bad(text, "too long");
  const auto count = static_cast<nanoseconds::rep>(std::llround(total));
  return nanoseconds(negative ? -count : count);
}

std::string FormatDuration(nanoseconds duration) {
  if (duration.count() == 0) return "0s";
  const bool negative = duration.count() < 0;
  const auto count = static_cast<std::uint64_t>(duration.count());
  const std::uint64_t total = negative ? ~count + 1 : count;
  const std::string sign = negative ? "-" : "";
  if (total < kMicrosecond) return sign + std::to_string(total) + "ns";
  if (total < kMillisecond) return sign + Decimal(total, kMicrosecond) + "µs";
  if (total < kSecond) return sign + Decimal(total, kMillisecond) + "ms";
  const std::uint64_t hours = total / kHour;
  const std::uint64_t minutes = total % kHour / kMinute;
  std::string text = sign;
  if (hours > 0) text += std::to_string(hours) + "h";
  if (hours > 0 || minutes > 0) text += std::to_string(minutes) + "m";
  return text + Decimal(total % kMinute, kSecond) + "s";
}

}  // namespace base
