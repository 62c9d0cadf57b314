#pragma once

// Amounts of ironcore objects: sizes of volumes, capabilities of classes. Pure functions; any
// thread.

#include <optional>
#include <string_view>

#include "pkg/base/error.h"
#include "pkg/json/value.h"
#include "pkg/quota/resource_list.h"

namespace quota::ironcore {

// The format of sums, whatever is added first; nullopt: that of the first non-zero amount.
using Notation = std::optional<quantity::Format>;

// Reads an amount of any magnitude that is not negative. Fractions are exact. Errors: kMalformed,
// "<field>: <what is wrong>".
base::Result<Quantity> AmountFrom(const json::Value& value, std::string_view field,
                                  Notation notation);

}  // namespace quota::ironcore
