#pragma once

// Knows whether a watch has shown a whole collection. No I/O; one thread.

#include <string>
#include <string_view>

#include "controllers/usage/stall_detector.h"
#include "informers/reflector.h"
#include "pkg/base/clock.h"

namespace controllers {

// True if a watch of quotas or namespaces that has listed them lags only by the delay of an event:
// it does not fail, and after a gap or a standstill it has shown what was missed, or that it
// cannot. Otherwise read live what admission decides by.
bool IsCurrent(base::TimePoint now, const informers::ReflectorState& state,
               const StallDetector& stalls);

class SyncState {
 public:
  // A relist was requested: nothing counts as synced until it ends.
  void OnRelist() { relists_ = true; }
  void OnListBegins() {
    listing_ = true;
    relists_ = false;
    awaited_.clear();
  }
  // Returns true for the first list.
  bool OnListEnds();
  // The server has an object of this version that was not shown. A version that is not a number is
  // ignored: nobody could tell whether a watch has passed it.
  void Await(base::TimePoint now, const std::string& version);
  // Objects are shown up to this version. Returns true if the awaited version is among them now.
  bool OnShown(std::string_view newest);
  // As CollectionSink::OnState().
  void OnState(base::TimePoint now, const informers::ReflectorState& state);

  // True if a complete list was read.
  [[nodiscard]] bool listed() const { return listed_; }
  // True if the picture is complete and current. False before the first list, and during a relist,
  // when old and new objects are mixed.
  [[nodiscard]] bool synced() const { return listed_ && !listing_ && !relists_; }
  // Returns the time until which objects may be stored that the watch has not shown:
  // - during a failure: TimePoint::max(),
  // - while no watch has been open for more than a second, without a failure (the history has
  //   expired, or the server answers late): kCatchesUp after `now`,
  // - after either of these: kCatchesUp after its end,
  // - while an awaited version was not shown: the end of the wait,
  // - otherwise: a time in the past.
  // If several apply, the latest of these times. kCatchesUp is accounting::kCatchesUp.
  [[nodiscard]] base::TimePoint BehindUntil(base::TimePoint now,
                                            const informers::ReflectorState& state) const;

 private:
  bool listed_ = false;
  bool listing_ = false;
  bool relists_ = false;
  base::TimePoint behind_until_{};   // of the last failure
  std::string awaited_;              // "" if none
  base::TimePoint awaited_until_{};  // the end of the wait
};

}  // namespace controllers
