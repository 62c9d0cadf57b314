#pragma once

// TEST ONLY. Virtual time for coroutines. Alarms expire when the test moves the clock, and
// everything that is ready runs before the next alarm expires.

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include "pkg/base/scheduler.h"

namespace base {

class ManualScheduler final : public Scheduler {
 public:
  explicit ManualScheduler(asio::io_context& io) : io_(io) {}
  // Destroys the coroutines that still wait.
  ~ManualScheduler() override;
  ManualScheduler(const ManualScheduler&) = delete;
  ManualScheduler& operator=(const ManualScheduler&) = delete;
  [[nodiscard]] TimePoint Now() const override { return clock_.Now(); }
  [[nodiscard]] WallTime WallNow() const override {
    return clock_.WallNow() + std::chrono::duration_cast<WallTime::duration>(wall_shift_);
  }
  std::unique_ptr<Alarm> NewAlarm() override;

  // Runs everything that is ready, without moving time.
  void RunUntilIdle();
  // Moves time by `duration`. Stops at each alarm on the way and runs what it wakes.
  void RunFor(Duration duration);
  // Runs nothing after so many steps, for tests of code that may loop for ever.
  void SetBudget(std::uint64_t steps) { budget_ = steps; }
  [[nodiscard]] std::uint64_t budget() const { return budget_; }
  // Called after each turn of the event loop, for tests of how much is done in one turn.
  void OnTurn(std::function<void()> after_turn) { after_turn_ = std::move(after_turn); }
  // Shifts the wall clock; Now() does not change.
  void SetWallBy(Duration by) { wall_shift_ += by; }
  // The earliest deadline that is waited for; TimePoint::max() if there is none.
  [[nodiscard]] TimePoint NextDeadline() const;

 private:
  class ManualAlarm;
  asio::io_context& io_;
  ManualClock clock_;
  Duration wall_shift_{};
  // By deadline; those of one moment in the order in which they began to wait.
  using Place = std::pair<TimePoint, std::uint64_t>;
  std::map<Place, ManualAlarm*> waiting_;
  std::uint64_t waits_ = 0;
  std::function<void()> after_turn_;
  std::uint64_t budget_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace base
