#pragma once

// The text of a quantity: its grammar, its canonical form, and the limits of both (apimachinery
// v0.36.3, pkg/api/resource/quantity.go and suffix.go). Only the sources of quantity.h use this.
//
// Pure functions; any thread.

#include <string>
#include <string_view>

#include "pkg/base/error.h"
#include "pkg/quantity/quantity.h"

namespace quantity {

__extension__ typedef unsigned __int128 Uint128;

struct ParsedText {
  Int128 nanos = 0;
  Format format = Format::kDecimalSI;
};

base::Result<ParsedText> ParseText(std::string_view text);
std::string PrintText(Int128 nanos, Format format);

// The error of a number that does not fit.
base::Error OutOfRange();

}  // namespace quantity
