#pragma once

// Waiting as a dependency. RealScheduler waits on the system's steady clock. Tests move the time of
// a ManualScheduler (pkg/base/manual_scheduler.h), so that they never sleep.
//
// Single-threaded: a scheduler belongs to the io_context whose coroutines use it.

#include <functional>
#include <memory>

#include "pkg/base/asio.h"
#include "pkg/base/clock.h"

namespace base {

// A wait that can be ended early. WaitUntil() returns at the deadline, on Wake(), or when the
// waiting coroutine is cancelled (at once if that was before). The caller checks its own state to
// learn which. At most one waiter.
class Alarm {
 public:
  virtual ~Alarm() = default;
  virtual Task<void> WaitUntil(TimePoint deadline) = 0;
  // Ends the current wait. Without one, the next wait returns at once.
  virtual void Wake() = 0;
};

class Scheduler : public Clock {
 public:
  virtual std::unique_ptr<Alarm> NewAlarm() = 0;
  // Returns early only if the coroutine is cancelled, at once if that was before.
  Task<void> Sleep(Duration duration);
};

class RealScheduler final : public Scheduler {
 public:
  explicit RealScheduler(asio::any_io_executor executor) : executor_(std::move(executor)) {}
  [[nodiscard]] TimePoint Now() const override { return clock_.Now(); }
  [[nodiscard]] WallTime WallNow() const override { return clock_.WallNow(); }
  std::unique_ptr<Alarm> NewAlarm() override;

 private:
  asio::any_io_executor executor_;
  RealClock clock_;
};

// True once the calling coroutine was asked to stop. An endless loop begins with `co_await
// base::DeferCancellation();` and checks Stopping() after every wait.
Task<bool> Stopping();
// From now on a cancellation is a state to check; the next co_await does not throw.
Task<void> DeferCancellation();
// Yields: everything else that is ready runs first. A loop over many elements calls this between
// steps of at most a few hundred microseconds.
Task<void> NextTurn();
// For the clean-up of a cancelled task: its further waits are not cut short.
Task<void> IgnoreCancellation();

}  // namespace base
