#include "tests/differential/random_quantities.h"

#include <algorithm>
#include <charconv>

namespace differential {
namespace {

std::string Digits(Random& random, std::size_t least, std::size_t most) {
  std::string digits;
  const std::size_t length = random.Between(least, most);
  while (digits.size() < length) {
    // Formats differ in runs of zeros.
    const auto digit = random.Percent(40) ? '0' : static_cast<char>('0' + random.Below(10));
    digits.push_back(digit);
  }
  return digits;
}

std::string Whole(Random& random) {
  switch (random.Below(8)) {
    case 0:
      return Digits(random, 0, 2);
    case 1:
      return Digits(random, 15, 24);
    case 2:
      return Digits(random, 25, random.Percent(40) ? 45 : 28);
    case 3:
      return "1" + std::string(random.Below(25), '0');
    default:
      return Digits(random, 1, 9);
  }
}

std::string Fraction(Random& random) {
  switch (random.Below(8)) {
    case 0:
      return ".";
    case 1:
      return "." + Digits(random, 1, 3);
    case 2:
      return "." + Digits(random, 4, 20);
    case 3:
      return "." + std::string(random.Below(12), '0') + Digits(random, 0, 30);
    default:
      return "";
  }
}

std::string Exponent(Random& random) {
  const std::string letter = random.OneOf({"e", "E"});
  const std::string sign = random.OneOf({"", "+", "-"});
  switch (random.Below(12)) {
    case 0:
      return letter + sign;
    case 1:
      return letter + sign + std::to_string(random.Below(200));
    case 2:
      // Beyond 32 bits, where upstream wraps around to a small exponent.
      return letter + sign + std::to_string((std::uint64_t{1} << 32) + random.Below(20));
    default:
      return letter + sign + std::to_string(random.Below(30));
  }
}

std::string Suffix(Random& random) {
  switch (random.Below(4)) {
    case 0:
      return random.OneOf({"n", "u", "m", "k", "M", "G", "T", "P", "E"});
    case 1:
      return random.OneOf({"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"});
    case 2:
      return Exponent(random);
    default:
      return "";
  }
}

// A large exponent would keep upstream busy for minutes, unless it is small once truncated to 32
// bits.
bool IsAffordable(const std::string& text) {
  constexpr std::int32_t kMost = 1000;
  const std::size_t letter = text.find_last_of("eE");
  if (letter == std::string::npos) return true;
  const std::size_t digits = text.find_first_of("0123456789", letter);
  if (digits == std::string::npos) return true;
  std::int64_t exponent = 0;
  const auto parsed = std::from_chars(text.data() + digits, text.data() + text.size(), exponent);
  const auto cut = static_cast<std::int32_t>(exponent);
  return parsed.ec == std::errc() && cut > -kMost && cut < kMost;
}

std::string Broken(Random& random, std::string text) {
  constexpr std::string_view kAlphabet = "0123456789.+-eEinumkKMGTP x_,";
  const std::string with(1, kAlphabet[random.Below(kAlphabet.size())]);
  const std::size_t at = random.Below(text.size() + 1);
  if (random.Percent(50)) {
    text.insert(at, with);
  } else if (!text.empty()) {
    text.erase(std::min(at, text.size() - 1), 1);
  }
  return IsAffordable(text) ? text : with;
}

}  // namespace

std::string RandomQuantityText(Random& random) {
  std::string text = random.OneOf({"", "", "", "", "-", "+"});
  text += Whole(random);
  text += Fraction(random);
  text += Suffix(random);
  return random.Percent(10) ? Broken(random, std::move(text)) : text;
}

std::string RandomAmount(Random& random) {
  switch (random.Below(18)) {
    case 17:
      // Equal amounts in different formats: when the larger counts, one of them is kept.
      return random.OneOf({"1024", "1Ki", "1024e0", "1.024k"});
    case 0:
      return random.OneOf({"0", "0Ki", "0e3", "0m", "-0", ".0"});
    case 1:
      return random.OneOf({"007", "+5", "5.", "1.5", ".5", "1.G", "1.5Gi", "0.1Gi", "0.5Ki", "1E3",
                           "12E6", "1e-3", "1.0001", "1n", "3u", "1000m", "1024Ki", "1000000"});
    case 2:
      return random.OneOf({"8Ei", "10Ei", "7Ei", "1E", "10E", "999E", "9223372036854775807",
                           "9223372036854775808", "1e27", "1e28", "99e27"});
    case 3:
      return std::to_string(random.Below(100'000)) + random.OneOf({"e1", "e2", "e3", "E1", "e-2"});
    case 4:
      return std::to_string(random.Below(1000)) + "." + Digits(random, 1, 9) +
             random.OneOf({"", "k", "M", "G", "Ki", "Mi", "Gi", "m"});
    case 5:
    case 6:
      return std::to_string(random.Below(5000)) + "m";
    case 7:
    case 8:
      return std::to_string(random.Below(2048)) + random.OneOf({"Ki", "Mi", "Gi", "Ti"});
    case 9:
    case 10:
      return std::to_string(random.Below(2000)) + random.OneOf({"k", "M", "G", "T"});
    default:
      return std::to_string(random.Below(64));
  }
}

}  // namespace differential
