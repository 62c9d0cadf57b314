#include "pkg/queue/rate_limiter.h"

#include <algorithm>
#include <cmath>

namespace queue {

RetryDelays::RetryDelays(RetryOptions options, std::uint64_t seed)
    : options_(options), random_(seed) {}

base::Duration RetryDelays::After(int failures) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  // After very many failures this is infinite, and the cap applies.
  const double doubled = std::ldexp(Milliseconds(options_.initial).count(), failures);
  const double delay = std::min(doubled, Milliseconds(options_.cap).count());
  std::uniform_real_distribution<double> stretch(1.0, 1.0 + options_.jitter);
  const double factor = options_.jitter > 0 ? stretch(random_) : 1.0;
  return std::chrono::duration_cast<base::Duration>(Milliseconds(delay * factor));
}

}  // namespace queue
