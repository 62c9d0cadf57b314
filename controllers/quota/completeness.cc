#include "controllers/quota/completeness.h"

#include <algorithm>

#include "pkg/accounting/timing.h"

namespace controllers {

void Completeness::OnState(base::TimePoint now, const informers::ReflectorState& state) {
  if (state.trouble) {
    behind_until_ = base::TimePoint::max();
  } else if (behind_until_ == base::TimePoint::max()) {
    // A watch that was opened again must first show what happened meanwhile.
    behind_until_ = now + accounting::kCatchesUp;
  }
}

base::TimePoint Completeness::BehindUntil(base::TimePoint now,
                                          const informers::ReflectorState& state) const {
  return std::max(behind_until_, state.gap.ShownAt(now, accounting::kCatchesUp));
}

}  // namespace controllers
