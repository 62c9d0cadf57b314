#include "pkg/base/gate.h"

#include <glog/logging.h>

namespace base {

Gate::~Gate() { CHECK(inside_ == 0 && waiting_.empty()) << "a gate is destroyed while in use"; }

bool Gate::TryEnter() {
  if (busy()) return false;
  // Places are handed over in order, so if the first one waits, all do.
  CHECK(waiting_.empty() || waiting_.front().inside)
      << "a place is free, and somebody waits for it";
  ++inside_;
  return true;
}

Task<bool> Gate::Enter(TimePoint deadline) {
  if (TryEnter()) co_return true;
  const auto place = waiting_.emplace(waiting_.end());
  place->alarm = scheduler_.NewAlarm();
  // The place must also be given back if a cancellation throws out of the wait.
  struct Cleanup {
    Gate& gate;
    std::list<Waiter>::iterator place;
    bool kept = false;
    ~Cleanup() {
      const bool inside = place->inside;
      gate.waiting_.erase(place);
      if (inside && !kept) gate.Leave();
    }
  } cleanup{*this, place};
  while (!place->inside && scheduler_.Now() < deadline) {
    co_await place->alarm->WaitUntil(deadline);
    const bool stopping = co_await Stopping();
    if (stopping) break;
  }
  cleanup.kept = place->inside;
  co_return cleanup.kept;
}

void Gate::Leave() {
  CHECK_GT(inside_, 0U) << "left without entering";
  for (Waiter& waiter : waiting_) {
    if (waiter.inside) continue;
    // The place is handed over, so that nobody else enters before this waiter runs.
    waiter.inside = true;
    waiter.alarm->Wake();
    return;
  }
  --inside_;
}

}  // namespace base
