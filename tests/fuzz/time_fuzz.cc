// Timestamps, and resource versions in metadata.

#include "pkg/api/time.h"

#include "pkg/api/resource_version.h"
#include "tests/fuzz/target.h"

namespace {

using std::chrono::floor;
using std::chrono::microseconds;
using std::chrono::seconds;

FUZZ_TARGET(time) {
  const std::size_t end = input.find('\n');
  const std::string_view first = input.substr(0, end);
  if (const auto time = api::ParseTime(first)) {
    const auto whole = api::ParseTime(api::FormatTime(*time));
    fuzz::Require(whole.has_value() && *whole == floor<seconds>(*time), "whole seconds remain");
    const auto micro = api::ParseTime(api::FormatMicroTime(*time));
    fuzz::Require(micro.has_value() && *micro == floor<microseconds>(*time), "micros remain");
  }
  if (end == std::string_view::npos) return;
  const std::string_view second = input.substr(end + 1);
  const auto older = api::IsOlderVersion(first, second);
  const auto newer = api::IsOlderVersion(second, first);
  fuzz::Require(older.has_value() == newer.has_value(), "both can be ordered, or none");
  fuzz::Require(!older || !(*older && *newer), "not each older than the other");
  fuzz::Require(!older || *older || *newer || first == second, "different ones are ordered");
}

}  // namespace
