#include "controllers/usage/sync_state.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "pkg/accounting/timing.h"
#include "pkg/api/resource_version.h"

namespace controllers {

bool IsCurrent(base::TimePoint now, const informers::ReflectorState& state,
               const StallDetector& stalls) {
  const base::Duration reopened = informers::WatchGap::kShort + accounting::kShowsGap;
  return !state.trouble && state.gap.ShownAt(now, accounting::kShowsGap) <= now &&
         stalls.ShownAt(now, reopened) <= now;
}

bool SyncState::OnListEnds() {
  CHECK(listing_) << "the end of a list that did not begin";
  listing_ = false;
  return !std::exchange(listed_, true);
}

void SyncState::OnState(base::TimePoint now, const informers::ReflectorState& state) {
  if (state.trouble) {
    behind_until_ = base::TimePoint::max();
  } else if (behind_until_ == base::TimePoint::max()) {
    // A watch that was opened again must first show what happened meanwhile.
    behind_until_ = now + accounting::kCatchesUp;
  }
}

// The same version extends nothing: entries that the server does not have must end even if the
// watch stays silent.
void SyncState::Await(base::TimePoint now, const std::string& version) {
  if (!api::IsDecimalVersion(version) || api::ReachesVersion(awaited_, version)) return;
  awaited_ = version;
  awaited_until_ = now + accounting::kAwaitsShown;
}

bool SyncState::OnShown(std::string_view newest) {
  const bool shown = !awaited_.empty() && api::ReachesVersion(newest, awaited_);
  if (shown) awaited_.clear();
  return shown;
}

base::TimePoint SyncState::BehindUntil(base::TimePoint now,
                                       const informers::ReflectorState& state) const {
  const bool awaits = !awaited_.empty() && !api::ReachesVersion(state.resource_version, awaited_);
  const base::TimePoint shown_at = state.gap.ShownAt(now, accounting::kCatchesUp);
  return std::max({behind_until_, shown_at, awaits ? awaited_until_ : base::TimePoint()});
}

}  // namespace controllers
