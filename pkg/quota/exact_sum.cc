#include "pkg/quota/exact_sum.h"

#include <algorithm>
#include <limits>

namespace quota {
namespace {

using quantity::Int128;

constexpr int kLowBits = 64;

Quantity Greatest(quantity::Format format) {
  return Quantity::FromNanos(std::numeric_limits<Int128>::max(), format);
}

}  // namespace

void ExactSum::Add(const Quantity& amount, std::int64_t times) {
  const Int128 nanos = amount.nanos();
  const auto low = static_cast<std::uint64_t>(nanos);
  const Int128 of_low = static_cast<Int128>(low) * times;
  const Int128 of_high = (nanos >> kLowBits) * times;
  const std::uint64_t before = low_;
  low_ += static_cast<std::uint64_t>(of_low);
  high_ += of_high + (of_low >> kLowBits) + (low_ < before ? 1 : 0);
  if (nanos != 0) formats_[static_cast<std::size_t>(amount.format())] += times;
}

base::Result<Quantity> ExactSum::Get() const {
  const auto most = std::ranges::max_element(formats_);
  const auto format = static_cast<quantity::Format>(most - formats_.begin());
  const auto high = static_cast<std::int64_t>(high_);
  if (high == high_) return Quantity::FromNanos((Int128{high} << kLowBits) | low_, format);
  const Quantity greatest = Greatest(format);
  return greatest.Add(greatest);
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
  for (const auto& [name, sum] : sums_) {
    const base::Result<Quantity> amount = sum.Get();
    list.Set(name, amount ? *amount : Greatest(quantity::Format::kDecimalSI));
  }
  return list;
}

}  // namespace quota
