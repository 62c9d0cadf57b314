#pragma once

// Arithmetic of charges, which cannot fail: on overflow the result is the larger operand, or zero.
// API servers validate that amounts are at least 0, so only an invalid answer can overflow. Values;
// any thread.

#include <algorithm>

#include "pkg/quota/resource_list.h"

namespace quota {

// a + b, or the larger one if the sum does not fit.
inline Quantity Sum(const Quantity& a, const Quantity& b) {
  const base::Result<Quantity> sum = a.Add(b);
  return sum ? *sum : std::max(a, b);
}

// a - b where that is positive, else zero.
inline Quantity Above(const Quantity& a, const Quantity& b) {
  const base::Result<Quantity> difference = a.Sub(b);
  return difference && difference->Sign() > 0 ? *difference : Quantity();
}

// Raises `total` by each amount of `more`.
inline void AddTo(ResourceList& total, const ResourceList& more) {
  for (const auto& [name, amount] : more) total.Set(name, Sum(total.Get(name), amount));
}

}  // namespace quota
