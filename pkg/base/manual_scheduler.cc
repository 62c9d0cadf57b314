#include "pkg/base/manual_scheduler.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>

namespace base {

// The timer is a condition variable: it never expires by itself, it is only cancelled.
class ManualScheduler::ManualAlarm final : public Alarm {
 public:
  explicit ManualAlarm(ManualScheduler& scheduler)
      : scheduler_(scheduler), ring_(scheduler.io_, asio::steady_timer::time_point::max()) {}

  Task<void> WaitUntil(TimePoint deadline) override {
    const bool stopping = co_await Stopping();
    if (stopping || std::exchange(woken_, false) || deadline <= scheduler_.Now()) co_return;
    deadline_ = deadline;
    scheduler_.waiting_.push_back(this);
    co_await ring_.async_wait(kTuple);
    std::erase(scheduler_.waiting_, this);
    woken_ = false;
  }

  void Wake() override {
    woken_ = true;
    ring_.cancel();
  }

  [[nodiscard]] TimePoint deadline() const { return deadline_; }

 private:
  ManualScheduler& scheduler_;
  asio::steady_timer ring_;
  TimePoint deadline_{};
  bool woken_ = false;
};

std::unique_ptr<Alarm> ManualScheduler::NewAlarm() { return std::make_unique<ManualAlarm>(*this); }

void ManualScheduler::RunUntilIdle() {
  for (bool ran = true; ran;) {
    ran = false;
    io_.restart();
    while (budget_ > 0 && io_.poll_one() > 0) {
      ran = true;
      --budget_;
      if (after_turn_) after_turn_();
    }
  }
}

TimePoint ManualScheduler::NextDeadline() const {
  TimePoint next = TimePoint::max();
  for (const ManualAlarm* alarm : waiting_) next = std::min(next, alarm->deadline());
  return next;
}

void ManualScheduler::RunFor(Duration duration) {
  const TimePoint end = Now() + duration;
  RunUntilIdle();
  while (budget_ > 0 && NextDeadline() <= end) {
    clock_.Set(std::max(Now(), NextDeadline()));
    // Copied, because woken alarms leave the list.
    const auto due = waiting_;
    for (ManualAlarm* alarm : due) {
      if (alarm->deadline() <= Now()) alarm->Wake();
    }
    RunUntilIdle();
  }
  clock_.Set(end);
}

}  // namespace base
