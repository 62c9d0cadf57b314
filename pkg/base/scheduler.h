#pragma once

// Waiting as a dependency: what a coroutine sleeps on. RealScheduler waits for the system's steady
// clock; ManualScheduler (pkg/base/manual_scheduler.h) is moved by a test, so that nothing sleeps.
//
// Single-threaded: a scheduler belongs to the io_context whose coroutines use it.

#include <functional>
#include <memory>

#include "pkg/base/asio.h"
#include "pkg/base/clock.h"

namespace base {

// A wait that can be ended early. WaitUntil() returns at the deadline, on Wake(), or when the
// awaiting coroutine is cancelled, at once if it was cancelled before; the caller looks at its own
// state to learn which. At most one waiter.
class Alarm {
 public:
  virtual ~Alarm() = default;
  virtual Task<void> WaitUntil(TimePoint deadline) = 0;
  // Ends a wait under way; without one, the next wait returns at once.
  virtual void Wake() = 0;
};

class Scheduler : public Clock {
 public:
  virtual std::unique_ptr<Alarm> NewAlarm() = 0;
  // Returns early only when the coroutine is cancelled, at once if it was cancelled before.
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

// True once cancellation was asked of the calling coroutine. A loop that runs for ever starts with
// `co_await base::DeferCancellation();` and tests Stopping() after every wait.
Task<bool> Stopping();
// From here on a cancellation is a state to test, not an exception of the next co_await.
Task<void> DeferCancellation();
// Lets everything else that is ready have its turn of the loop. Who walks over what may be many
// does so in steps, each at most a few hundred microseconds long, with one of these between them.
Task<void> NextTurn();
// For the clean-up of a cancelled task: its further waits are waited for in full.
Task<void> IgnoreCancellation();

}  // namespace base
