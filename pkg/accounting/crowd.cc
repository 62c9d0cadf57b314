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

}  // namespace

void Crowd::OnGranted(base::TimePoint now, const ResourceList& usage, std::size_t creations) {
  if (now - since_ > options_.window) {
    granted_ = {};
    creations_ = 0;
    since_ = now;
  }
  granted_.Add(usage);
  creations_ += creations;
}

NextBurst Crowd::Next(base::TimePoint now, const ResourceList& hard,
                      const ResourceList& used) const {
  const base::Duration took = std::max<base::Duration>(now - since_, std::chrono::microseconds(1));
  const bool crowd = options_.crowd > 0 && creations_ >= options_.crowd;
  if (!crowd || now - since_ < options_.shortest || took > options_.window) return {};
  if (creations_ < meant_ / 2) return {};
  const auto most = static_cast<std::int64_t>(options_.most / creations_);
  // A multiple of the granted usage, halved until it fits below the limits.
  std::int64_t times = std::min<std::int64_t>(options_.window / took, options_.growth);
  for (times = std::min(times, most); times > 0; times /= 2) {
    ResourceList burst;
    burst.Add(granted_, times);
    if (LeavesMuch(burst, options_.share, hard, used)) {
      return {std::move(burst), creations_ * static_cast<std::size_t>(times)};
    }
  }
  return {};
}

void Crowd::OnReserved(base::TimePoint now, std::size_t creations) {
  meant_ = creations;
  granted_ = {};
  creations_ = 0;
  since_ = now;
}

}  // namespace accounting
