#pragma once

// Tells when the sink has caught up after a gap between two watches. Until then events stored
// during the gap may be missing. Single-threaded.

#include <chrono>
#include <optional>

#include "pkg/base/clock.h"

namespace informers {

class WatchGap {
 public:
  // A watch that is reopened within this time has missed nothing that matters. A watch that was
  // open for so long has delivered what was stored before it opened.
  static constexpr std::chrono::seconds kShort{1};

  // A list that was requested at `asked` has arrived. It may be as old as that.
  void OnList(base::TimePoint asked) { unwatched_since_ = asked; }
  void OnWatch(base::TimePoint now) {
    began_ = unwatched_since_.value_or(now);
    watched_since_ = now;
    unwatched_since_.reset();
  }
  void OnWatchEnd(base::TimePoint now) {
    // A watch that ended at once has not delivered what was stored in the gap before it.
    unwatched_since_ = now - watched_since_ < kShort ? began_ : now;
  }

  // Returns when the sink has received what it missed, if a watch delivers that within `patience`.
  // While no watch is open, this is the earliest possible time. Returns the epoch if nothing that
  // matters was missed.
  [[nodiscard]] base::TimePoint ShownAt(base::TimePoint now, base::Duration patience) const {
    const base::Duration lasted =
        unwatched_since_ ? now - *unwatched_since_ : watched_since_ - began_;
    if (lasted < kShort) return {};
    return (unwatched_since_ ? now : watched_since_) + patience;
  }

 private:
  std::optional<base::TimePoint> unwatched_since_;  // nullopt: a watch is open, or none ever was
  base::TimePoint began_{};                         // of the gap before the last watch
  base::TimePoint watched_since_{};
};

}  // namespace informers
