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

void Arrivals::Add(base::TimePoint now, const ResourceList& usage, std::size_t creations) {
  if (now - std::max(last_, since_) > window_) {
    before_ = {};
    now_ = {};
    since_ = now;
  } else if (now - since_ > window_) {
    before_ = std::exchange(now_, {});
    since_ += window_;
  }
  last_ = now;
  now_.usage.Add(usage);
  now_.creations += creations;
}

ResourceList Arrivals::usage() const {
  ResourceList usage = before_.usage;
  usage.Add(now_.usage);
  return usage;
}

base::Duration Arrivals::Took(base::TimePoint now) const {
  return now - since_ + (before_.creations > 0 ? window_ : base::Duration());
}

void Crowd::OnGranted(base::TimePoint now, const ResourceList& usage, std::size_t creations) {
  if (options_.crowd == 0) return;
  recent_.Add(now, usage, creations);
  long_.Add(now, usage, creations);
  drawn_ += creations;
}

NextBurst Crowd::Next(base::TimePoint now, const ResourceList& hard, const ResourceList& used,
                      std::size_t batch) const {
  if (options_.crowd == 0) return {};
  if (now - reserved_at_ <= covers_ && drawn_ < meant_ / 2) return {};
  const Kind usual{.lasts = kBurstLasts, .least = options_.crowd, .growth = options_.growth};
  NextBurst next = Expected(now, recent_, usual, hard, used);
  const bool own = recent_.creations() >= options_.crowd;
  if (own || next.creations > 0 || batch < options_.shared) return next;
  return Expected(now, long_, {.lasts = kLongBurstLasts, .least = 1, .growth = 1}, hard, used);
}

NextBurst Crowd::Expected(base::TimePoint now, const Arrivals& arrivals, const Kind& kind,
                          const ResourceList& hard, const ResourceList& used) const {
  const base::Duration took = arrivals.Took(now);
  if (took < options_.shortest) return {};
  const std::size_t arrived = arrivals.creations();
  const auto in_window =
      static_cast<std::size_t>(static_cast<std::int64_t>(arrived) * arrivals.window() /
                               std::max<base::Duration>(took, std::chrono::microseconds(1)));
  if (std::min(arrived, in_window) < kind.least) return {};
  const ResourceList usage = arrivals.usage();
  std::size_t next = std::min({arrived * kind.growth, in_window, options_.most});
  for (; next >= kind.least; next /= 2) {  // until it fits below the limits
    ResourceList burst = PartOf(usage, next, arrived);
    if (LeavesMuch(burst, options_.share, hard, used)) {
      return {.usage = std::move(burst),
              .creations = next,
              .covers = arrivals.window(),
              .lasts = kind.lasts};
    }
  }
  return {};
}

void Crowd::OnReserved(base::TimePoint now, std::size_t creations, base::Duration covers) {
  reserved_at_ = now;
  covers_ = covers;
  meant_ = creations;
  drawn_ = 0;
}

}  // namespace accounting
