#pragma once

// The text of a quantity: its grammar, its canonical form, and the limits of both (apimachinery
// v0.36.3, pkg/api/resource/quantity.go and suffix.go). Only the sources of quantity.h use this.
//
// Pure functions; any thread.

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "pkg/base/error.h"
#include "pkg/quantity/quantity.h"

namespace quantity {

__extension__ typedef unsigned __int128 Uint128;

// A larger amount with a binary suffix is capped when it is parsed, in nanos.
inline constexpr Int128 kBinaryCap = std::numeric_limits<std::int64_t>::max() * kNanosPerOne;

struct ParsedText {
  Int128 nanos = 0;
  Format format = Format::kDecimalSI;
};

base::Result<ParsedText> ParseText(std::string_view text);
std::string PrintText(Int128 nanos, Format format);

}  // namespace quantity
