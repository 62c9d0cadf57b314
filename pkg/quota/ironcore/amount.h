#pragma once

// Amounts of ironcore objects: sizes of volumes, capabilities of classes. Pure functions; any
// thread.

#include <optional>
#include <string_view>

#include "pkg/base/error.h"
#include "pkg/json/value.h"
#include "pkg/quota/resource_list.h"

namespace quota::ironcore {

// How sums are printed, whatever is added first; nullopt: as the first that is not zero.
using Notation = std::optional<quantity::Format>;

// What can be had: not negative, and less than the largest quantity of Kubernetes (2^63 - 1), which
// is what larger ones are read as. Fractions are exact. Errors: kMalformed, "<field>: <what is
// wrong>".
base::Result<Quantity> AmountFrom(const json::Value& value, std::string_view field,
                                  Notation notation);

}  // namespace quota::ironcore
