#pragma once

// What one replica knows of time: a clock of its own pace, and waits that stand still while the
// process is stopped (SIGSTOP, a suspended machine). The clock goes on meanwhile. When the process
// goes on, what others have woken runs before what only the time has woken, as a poll does it.

#include "pkg/base/manual_scheduler.h"

namespace simulation {

class ReplicaClock final : public base::Scheduler {
 public:
  // `ahead`: by how much its clocks differ; `rate`: their pace. `truth` outlives it.
  ReplicaClock(base::ManualScheduler& truth, base::Duration ahead, double rate);

  [[nodiscard]] base::TimePoint Now() const override;
  [[nodiscard]] base::WallTime WallNow() const override;
  std::unique_ptr<base::Alarm> NewAlarm() override;

  // A pause within a pause ends with the one that ends later.
  void PauseFor(base::Duration duration);
  void Resume() { paused_until_ = {}; }
  [[nodiscard]] bool paused() const { return truth_.Now() < paused_until_; }
  // The time of which pauses are left out: what a clock that stops with the process would show.
  [[nodiscard]] base::TimePoint NowWithoutPauses() const;
  // Returns when the process goes on, or the caller is cancelled.
  base::Task<void> WhilePaused();

 private:
  class ReplicaAlarm;
  [[nodiscard]] base::TimePoint TruthOf(base::TimePoint mine) const;

  base::ManualScheduler& truth_;
  base::TimePoint began_;
  base::Duration ahead_;
  double rate_;
  base::TimePoint paused_at_{};
  base::TimePoint paused_until_{};
  base::Duration paused_before_{};  // all pauses that are over
};

}  // namespace simulation
