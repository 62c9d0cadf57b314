#include "pkg/base/backoff.h"

#include <algorithm>

namespace base {

Backoff::Backoff(BackoffOptions options, std::uint64_t seed)
    : options_(options), random_(seed), next_(options.initial) {}

Duration Backoff::Next(TimePoint now, Duration floor) {
  // After so long without a failure the next one counts as the first.
  if (now - last_asked_ > options_.reset_after) Reset();
  last_asked_ = now;
  std::uniform_real_distribution<double> stretch(1.0, 1.0 + options_.jitter);
  const auto delay = next_ * (options_.jitter > 0 ? stretch(random_) : 1.0);
  next_ = std::min<decltype(next_)>(next_ * options_.factor, options_.cap);
  return std::max(std::chrono::duration_cast<Duration>(delay), floor);
}

void Backoff::Reset() { next_ = options_.initial; }

}  // namespace base
