#include "pkg/quota/exact_sum.h"

#include <algorithm>

namespace quota {
namespace {

using quantity::Int128;

constexpr int kLowBits = 64;

}  // namespace

void ExactSum::Add(const Quantity& amount, std::int64_t times) {
  const Int128 nanos = amount.nanos();
  if (nanos != 0) formats_[static_cast<std::size_t>(amount.format())] += times;
  if (amount.IsSaturated()) {
    saturated_ += nanos > 0 ? times : -times;
    return;
  }
  const auto low = static_cast<std::uint64_t>(nanos);
  const Int128 of_low = static_cast<Int128>(low) * times;
  const Int128 of_high = (nanos >> kLowBits) * times;
  const std::uint64_t before = low_;
  low_ += static_cast<std::uint64_t>(of_low);
  high_ += of_high + (of_low >> kLowBits) + (low_ < before ? 1 : 0);
}

Quantity ExactSum::Get() const {
  const auto most = std::ranges::max_element(formats_);
  const auto format = static_cast<quantity::Format>(most - formats_.begin());
  const auto clamped = [format](bool negative) {
    return Quantity::FromNanos(negative ? -quantity::kMost : quantity::kMost, format);
  };
  if (saturated_ != 0) return clamped(saturated_ < 0);
  const auto high = static_cast<std::int64_t>(high_);
  if (high != high_) return clamped(high_ < 0);
  const Int128 nanos = (Int128{high} << kLowBits) | low_;
  // The lowest number has no counterpart.
  return nanos < -quantity::kMost ? clamped(true) : Quantity::FromNanos(nanos, format);
}

void ExactSums::Add(const ResourceList& amounts, std::int64_t times) {
  for (const auto& [name, amount] : amounts) {
    const auto [at, added] = sums_.try_emplace(name);
    at->second.Add(amount, times);
    if (at->second.IsZero()) sums_.erase(at);
  }
}

ResourceList ExactSums::Get() const {
  ResourceList list;
  list.Reserve(sums_.size());
  for (const auto& [name, sum] : sums_) list.Set(name, sum.Get());
  return list;
}

}  // namespace quota
