#include "pkg/config/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "pkg/base/text.h"

namespace config {
namespace {

constexpr std::array<std::string_view, 5> kNull{"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 11> kTrue{"y",    "Y",    "yes", "Yes", "YES", "true",
                                                 "True", "TRUE", "on",  "On",  "ON"};
constexpr std::array<std::string_view, 11> kFalse{"n",     "N",     "no",  "No",  "NO", "false",
                                                  "False", "FALSE", "off", "Off", "OFF"};
constexpr std::array<std::string_view, 12> kNotFinite{".nan",  ".NaN",  ".NAN",  ".inf",
                                                      ".Inf",  ".INF",  "+.inf", "+.Inf",
                                                      "+.INF", "-.inf", "-.Inf", "-.INF"};

// Takes the prefix of a base off: "0x1F", "0b1", "0o17" and "017" have one.
int TakeBase(std::string_view& digits) {
  if (digits.size() < 2 || digits.front() != '0') return 10;
  const char mark = digits[1];
  const int base = mark == 'x' || mark == 'X' ? 16 : mark == 'b' || mark == 'B' ? 2 : 8;
  const bool marked = base != 8 || mark == 'o' || mark == 'O';
  digits.remove_prefix(marked ? 2 : 1);
  return base;
}

// Returns an integer that fits into 64 bits, signed or not.
std::optional<json::Value> ToInteger(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const int base = TakeBase(text);
  std::uint64_t magnitude = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, magnitude, base);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  if (!negative) return json::Value(magnitude);
  if (magnitude == 0) return json::Number{"-0"};  // as JSON keeps it, and as -0.0 is written
  constexpr std::uint64_t kLowest = std::uint64_t{1} << 63;
  if (magnitude > kLowest) return std::nullopt;
  return json::Value(static_cast<std::int64_t>(~magnitude + 1));
}

// Formats a float as Go does in JSON: without an exponent from 1e-6 up to 1e21.
json::Value FromDouble(double value) {
  const double size = std::abs(value);
  const bool fixed = size == 0 || (size >= 1e-6 && size < 1e21);
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 fixed ? std::chars_format::fixed : std::chars_format::scientific);
  return json::Number{std::string(text.data(), end.ptr)};
}

bool LooksLikeFloat(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const auto skip_digits = [&text] {
    const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count;
  };
  std::size_t digits = skip_digits();
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    digits += skip_digits();
  }
  if (digits == 0) return false;
  if (text.empty()) return true;
  if (text.front() != 'e' && text.front() != 'E') return false;
  text.remove_prefix(1);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return skip_digits() > 0 && text.empty();
}

std::optional<json::Value> ToFloat(std::string_view text) {
  if (!LooksLikeFloat(text)) return std::nullopt;
  if (text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec == std::errc::result_out_of_range) {
    // from_chars does not tell too large (not a float in Go) from too small.
    value = std::strtod(std::string(text).c_str(), nullptr);
    if (!std::isfinite(value)) return std::nullopt;
  }
  return FromDouble(value);
}

}  // namespace

std::optional<json::Value> ResolveScalar(std::string_view text) {
  if (base::IsOneOf(text, kNull)) return json::Value(nullptr);
  if (base::IsOneOf(text, kTrue)) return json::Value(true);
  if (base::IsOneOf(text, kFalse)) return json::Value(false);
  if (base::IsOneOf(text, kNotFinite)) return std::nullopt;
  // A number must begin like one: "1_000" is a number, "_1" is not.
  if (std::string_view("+-.0123456789").find(text.front()) == std::string_view::npos) return text;
  std::string digits(text);
  std::erase(digits, '_');
  if (auto integer = ToInteger(digits)) return integer;
  if (auto number = ToFloat(digits)) return number;
  return text;
}

}  // namespace config
