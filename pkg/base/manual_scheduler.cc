#include "pkg/base/manual_scheduler.h"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <iterator>
#include <utility>

#include "pkg/base/suspension.h"

namespace base {

class ManualScheduler::ManualAlarm final : public Alarm {
 public:
  explicit ManualAlarm(ManualScheduler& scheduler) : scheduler_(scheduler) {}
  ~ManualAlarm() override { EndWait(); }

  Task<void> WaitUntil(TimePoint deadline) override {
    // As Stopping(), without a coroutine of its own: simulations wait thousands of times.
    const auto state = co_await asio::this_coro::cancellation_state;
    const bool stopping = state.cancelled() != asio::cancellation_type::none;
    if (stopping || std::exchange(woken_, false) || deadline <= scheduler_.Now()) co_return;
    place_ = {deadline, ++scheduler_.waits_};
    scheduler_.waiting_.emplace(place_, this);
    co_await wait_.Wait([this] { EndWait(); });
    woken_ = false;
  }

  void Wake() override {
    woken_ = true;
    EndWait();
  }

  void Abandon() { wait_.Abandon(); }

 private:
  void EndWait() {
    if (!wait_.waiting()) return;  // the scheduler may be gone
    scheduler_.waiting_.erase(place_);
    wait_.Resume();
  }

  ManualScheduler& scheduler_;
  Suspension wait_;
  Place place_{};
  bool woken_ = false;
};

ManualScheduler::~ManualScheduler() {
  while (!waiting_.empty()) {
    const auto last = std::prev(waiting_.end());
    ManualAlarm* const alarm = last->second;
    waiting_.erase(last);
    alarm->Abandon();
  }
}

std::unique_ptr<Alarm> ManualScheduler::NewAlarm() { return std::make_unique<ManualAlarm>(*this); }

void ManualScheduler::RunUntilIdle() {
  // The last handler may have stopped the event loop, because nothing was left to do.
  io_.restart();
  while (budget_ > 0 && io_.poll_one() > 0) {
    --budget_;
    if (after_turn_) after_turn_();
  }
}

TimePoint ManualScheduler::NextDeadline() const {
  return waiting_.empty() ? TimePoint::max() : waiting_.begin()->first.first;
}

void ManualScheduler::RunFor(Duration duration) {
  const TimePoint end = Now() + duration;
  RunUntilIdle();
  while (budget_ > 0 && NextDeadline() <= end) {
    clock_.Set(std::max(Now(), NextDeadline()));
    while (NextDeadline() <= Now()) {
      ManualAlarm* const due = waiting_.begin()->second;
      waiting_.erase(waiting_.begin());
      due->Wake();
    }
    RunUntilIdle();
  }
  clock_.Set(end);
}

}  // namespace base
