#pragma once

// Between the end of a watch and what the next one has shown, the sink may not know what is stored.
// Says when it does again. Single-threaded.

#include <chrono>
#include <optional>

#include "pkg/base/clock.h"

namespace informers {

class WatchGap {
 public:
  // A watch that is opened again within this time has missed nothing that matters; and one that was
  // open for so long has shown what happened before it was.
  static constexpr std::chrono::seconds kShort{1};

  // A list that was asked for then has come: it may be as old as that.
  void OnList(base::TimePoint asked) { unwatched_since_ = asked; }
  void OnWatch(base::TimePoint now) {
    began_ = unwatched_since_.value_or(now);
    watched_since_ = now;
    unwatched_since_.reset();
  }
  void OnWatchEnd(base::TimePoint now) {
    // One that ended at once has not shown what happened in the gap before it.
    unwatched_since_ = now - watched_since_ < kShort ? began_ : now;
  }

  // When the sink will have been shown what it missed, if a watch takes up to `patience` for that:
  // at the soonest, while none is open. The epoch if it missed nothing that matters.
  [[nodiscard]] base::TimePoint ShownAt(base::TimePoint now, base::Duration patience) const {
    const base::Duration lasted =
        unwatched_since_ ? now - *unwatched_since_ : watched_since_ - began_;
    if (lasted < kShort) return {};
    return (unwatched_since_ ? now : watched_since_) + patience;
  }

 private:
  std::optional<base::TimePoint> unwatched_since_;  // nullopt: a watch is open, or never was
  base::TimePoint began_{};                         // of the gap before the last watch
  base::TimePoint watched_since_{};
};

}  // namespace informers
