#pragma once

// The clock of one replica, with a pace of its own. While the process is stopped (SIGSTOP, a
// suspended machine), its clock continues but no wait ends. When the process continues, waits that
// were woken by events end before waits that were woken by time, as in an event loop with poll.

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
  // The time without pauses, as a clock shows it that stops with the process.
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
  base::Duration paused_before_{};  // the sum of all earlier pauses
};

}  // namespace simulation
