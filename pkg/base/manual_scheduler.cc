#include "pkg/base/manual_scheduler.h"

#include <algorithm>
#include <utility>

#include "pkg/base/suspension.h"

namespace base {

class ManualScheduler::ManualAlarm final : public Alarm {
 public:
  explicit ManualAlarm(ManualScheduler& scheduler) : scheduler_(scheduler) {}
  ~ManualAlarm() override { EndWait(); }

  Task<void> WaitUntil(TimePoint deadline) override {
    const bool stopping = co_await Stopping();
    if (stopping || std::exchange(woken_, false) || deadline <= scheduler_.Now()) co_return;
    deadline_ = deadline;
    scheduler_.waiting_.push_back(this);
    co_await wait_.Wait([this] { EndWait(); });
    woken_ = false;
  }

  void Wake() override {
    woken_ = true;
    EndWait();
  }

  [[nodiscard]] TimePoint deadline() const { return deadline_; }
  void Abandon() { wait_.Abandon(); }

 private:
  void EndWait() {
    if (!wait_.waiting()) return;  // the scheduler may be gone
    std::erase(scheduler_.waiting_, this);
    wait_.Resume();
  }

  ManualScheduler& scheduler_;
  Suspension wait_;
  TimePoint deadline_{};
  bool woken_ = false;
};

ManualScheduler::~ManualScheduler() {
  while (!waiting_.empty()) {
    ManualAlarm* const alarm = waiting_.back();
    waiting_.pop_back();
    alarm->Abandon();
  }
}

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
