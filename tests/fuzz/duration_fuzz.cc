// Texts of flags and files: durations, base64, addresses to listen on.

#include "pkg/base/duration.h"

#include "pkg/base/base64.h"
#include "pkg/http/server.h"
#include "tests/fuzz/target.h"

namespace {

void CheckDuration(std::string_view text) {
  const auto duration = base::ParseDuration(text);
  if (!duration) return;
  const std::string printed = base::FormatDuration(*duration);
  const auto again = base::ParseDuration(printed);
  fuzz::Require(again.has_value() && *again == *duration, "a duration is read as it was printed");
}

void CheckBase64(std::string_view text) {
  const auto own = base::DecodeBase64(base::EncodeBase64(text));
  fuzz::Require(own.has_value() && *own == text, "bytes survive base64");
  const auto decoded = base::DecodeBase64(text);
  if (!decoded) return;
  std::string unbroken;
  for (const char c : text) {
    if (c != '\n' && c != '\r') unbroken += c;
  }
  const std::string encoded = base::EncodeBase64(*decoded);
  fuzz::Require(encoded.size() == unbroken.size(), "no byte of the text is lost");
}

void CheckAddress(std::string_view text) {
  const auto address = http::ParseBindAddress(text);
  if (!address) return;
  const bool six = address->address.find(':') != std::string::npos;
  std::string printed = six ? "[" + address->address + "]" : address->address;
  printed.append(":").append(std::to_string(address->port));
  const auto again = http::ParseBindAddress(printed);
  fuzz::Require(
      again.has_value() && again->address == address->address && again->port == address->port,
      "an address is read as it was printed");
}

FUZZ_TARGET(duration) {
  CheckDuration(input);
  CheckBase64(input);
  CheckAddress(input);
}

}  // namespace
