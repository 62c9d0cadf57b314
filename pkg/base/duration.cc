#include "pkg/base/duration.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace base {
namespace {

using std::chrono::nanoseconds;

constexpr std::array<std::pair<std::string_view, double>, 8> kUnits{{
    {"ns", 1.0}, {"us", 1e3}, {"µs", 1e3}, {"μs", 1e3},
    {"ms", 1e6}, {"s", 1e9},  {"m", 60e9}, {"h", 3600e9},
}};

Error Bad(std::string_view text, std::string_view why) {
  return {.code = ErrorCode::kInvalidArgument,
          .message = "invalid duration \"" + std::string(text) + "\": " + std::string(why)};
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Takes "1.5" off the front of `rest`; NaN if there is no digit.
double TakeNumber(std::string_view& rest) {
  double value = 0;
  double scale = 0;  // 0 before the point, then 0.1, 0.01, …
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

// Takes the unit off the front of `rest`; 0 if it is unknown. Longest match: "ms" before "m".
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
  const double total = std::abs(static_cast<double>(duration.count()));
  const auto number = [](double value) {
    std::string text = std::to_string(value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
  };
  std::string text = negative ? "-" : "";
  if (total < 1e3) return text + number(total) + "ns";
  if (total < 1e6) return text + number(total / 1e3) + "µs";
  if (total < 1e9) return text + number(total / 1e6) + "ms";
  const auto hours = static_cast<long>(total / 3600e9);
  const auto minutes = static_cast<long>(std::fmod(total, 3600e9) / 60e9);
  if (hours > 0) text += std::to_string(hours) + "h";
  if (hours > 0 || minutes > 0) text += std::to_string(minutes) + "m";
  return text + number(std::fmod(total, 60e9) / 1e9) + "s";
}

}  // namespace base
