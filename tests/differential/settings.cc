#include "tests/differential/settings.h"

#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace differential {
namespace {

template <typename Number>
void Read(const char* name, Number& number) {
  const char* value = std::getenv(name);
  if (value == nullptr) return;
  const std::string_view text = value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return;
  throw std::runtime_error(std::string(name) + " is not a number: " + value);
}

Settings FromEnvironment() {
  Settings settings;
  const char* upstream = std::getenv("QCM_UPSTREAM");
  if (upstream == nullptr) {
    throw std::runtime_error("QCM_UPSTREAM must name what tests/differential/build.sh prints");
  }
  settings.upstream = upstream;
  Read("QCM_COUNT", settings.count);
  Read("QCM_SEED", settings.seed);
  return settings;
}

}  // namespace

const Settings& TheSettings() {
  static const Settings settings = FromEnvironment();
  return settings;
}

}  // namespace differential
