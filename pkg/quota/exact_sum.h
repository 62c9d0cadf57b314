#pragma once

// Sums of amounts that are kept while their parts come and go. They are exact: a part that is added
// and removed again leaves the sum as it was, however large it is. Saturated parts are counted
// apart: while there is one, the sum is saturated. Values; any thread.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "pkg/quantity/quantity.h"
#include "pkg/quota/resource_list.h"

namespace quota {

// A sum of up to 2^62 amounts. It has 192 bits, so it cannot overflow.
class ExactSum {
 public:
  // Adds `times` times the amount; a negative number removes it.
  void Add(const Quantity& amount, std::int64_t times);
  // True if nothing was added that was not removed, or if the parts cancel out.
  [[nodiscard]] bool IsZero() const { return high_ == 0 && low_ == 0 && saturated_ == 0; }
  // Returns the sum, in the format that most of its parts have.
  [[nodiscard]] Quantity Get() const;
  bool operator==(const ExactSum&) const = default;

 private:
  // The number of nanos is high_ * 2^64 + low_.
  quantity::Int128 high_ = 0;
  std::uint64_t low_ = 0;
  std::int64_t saturated_ = 0;             // saturated parts; those below zero count as -1
  std::array<std::int64_t, 3> formats_{};  // parts by format, without zeros
};

// The same for a list of resources, without names whose sum is zero. REQUIRES: no part is negative.
class ExactSums {
 public:
  void Add(const ResourceList& amounts, std::int64_t times);
  [[nodiscard]] ResourceList Get() const;
  [[nodiscard]] bool empty() const { return sums_.empty(); }

 private:
  std::map<std::string, ExactSum, std::less<>> sums_;
};

}  // namespace quota
