#include "pkg/accounting/crowd.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace accounting {
namespace {

using quota::Quantity;

// True if the burst takes at most 1/share of what `hard` leaves above `used`.
bool LeavesMuch(const ResourceList& burst, int share, const ResourceList& hard,
                const ResourceList& used) {
  return std::ranges::all_of(burst, [&](const auto& entry) {
    const auto& [name, amount] = entry;
    const Quantity* limit = hard.Find(name);
    if (limit == nullptr) return false;
    return amount.Mul(share) <= limit->Sub(used.Get(name));
  });
}

// The part of `usage`, which is that of `of` creations, that `creations` of them have. Rounded up
// to amounts that names of whole numbers may have.
ResourceList PartOf(const ResourceList& usage, std::size_t creations, std::size_t of) {
  ResourceList part;
  part.Reserve(usage.size());
  for (const auto& [name, amount] : usage) {
    const Quantity times = amount.Mul(creations);
    const auto divided = Quantity::FromNanos(times.nanos() / of, amount.format());
    const Quantity rounded =
        amount.IsInteger() ? divided.RoundUpToInteger() : divided.RoundUpToMilli();
    part.Set(name, times.IsSaturated() ? times : rounded);
  }
  return part;
}

}  // namespace

void Crowd::OnGranted(base::TimePoint now, const ResourceList& usage, std::size_t creations) {
  if (now - std::max(last_, since_) > options_.window) {
    before_ = {};
    granted_ = {};
    since_ = now;
  } else if (now - since_ > options_.window) {
    before_ = std::exchange(granted_, {});
    since_ += options_.window;
  }
  last_ = now;
  granted_.usage.Add(usage);
  granted_.creations += creations;
  drawn_ += creations;
}

NextBurst Crowd::Next(base::TimePoint now, const ResourceList& hard,
                      const ResourceList& used) const {
  const base::Duration before = before_.creations > 0 ? options_.window : base::Duration();
  const base::Duration counted = now - since_ + before;
  if (options_.crowd == 0 || counted < options_.shortest) return {};
  if (now - reserved_at_ <= options_.window && drawn_ < meant_ / 2) return {};
  const std::size_t arrived = before_.creations + granted_.creations;
  const base::Duration took = std::max<base::Duration>(counted, std::chrono::microseconds(1));
  const auto in_window =
      static_cast<std::size_t>(static_cast<std::int64_t>(arrived) * options_.window / took);
  if (std::min(arrived, in_window) < options_.crowd) return {};
  ResourceList usage = before_.usage;
  usage.Add(granted_.usage);
  std::size_t next = arrived * static_cast<std::size_t>(options_.growth);
  // Halved until it fits below the limits.
  for (next = std::min({next, in_window, options_.most}); next >= options_.crowd; next /= 2) {
    ResourceList burst = PartOf(usage, next, arrived);
    if (LeavesMuch(burst, options_.share, hard, used)) return {std::move(burst), next};
  }
  return {};
}

void Crowd::OnReserved(base::TimePoint now, std::size_t creations) {
  reserved_at_ = now;
  meant_ = creations;
  drawn_ = 0;
}

}  // namespace accounting
