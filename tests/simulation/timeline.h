#pragma once

// True time, which no replica sees. Everything outside of replicas happens at planned moments. The
// replicas' coroutines run between these moments. Time stands still while anything runs.

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>

#include "pkg/base/manual_scheduler.h"

namespace simulation {

class Timeline {
 public:
  [[nodiscard]] base::TimePoint Now() const { return scheduler_.Now(); }
  // Since the schedule began.
  [[nodiscard]] base::Duration Elapsed() const { return Now() - began_; }
  void After(base::Duration delay, std::function<void()> what) {
    planned_.emplace(Now() + delay, std::move(what));
  }
  // Runs until `end`, or until `done` returns true. `look` is called after each moment.
  void RunUntil(base::TimePoint end, const std::function<void()>& look,
                const std::function<bool()>& done) {
    scheduler_.RunUntilIdle();
    look();
    while (Now() < end && scheduler_.budget() > 0 && !done()) {
      base::TimePoint next = std::min(end, scheduler_.NextDeadline());
      if (!planned_.empty()) next = std::min(next, planned_.begin()->first);
      scheduler_.RunFor(std::max(next - Now(), base::Duration::zero()));
      RunPlanned();
      look();
    }
  }

  [[nodiscard]] base::asio::any_io_executor executor() { return io_.get_executor(); }
  [[nodiscard]] base::ManualScheduler& scheduler() { return scheduler_; }

 private:
  void RunPlanned() {
    while (!planned_.empty() && planned_.begin()->first <= Now() && scheduler_.budget() > 0) {
      const auto what = std::move(planned_.begin()->second);
      planned_.erase(planned_.begin());
      what();
      scheduler_.RunUntilIdle();
    }
  }

  base::asio::io_context io_{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE};  // no locks
  base::ManualScheduler scheduler_{io_};
  base::TimePoint began_ = scheduler_.Now();
  std::multimap<base::TimePoint, std::function<void()>> planned_;  // equal moments: in order
};

}  // namespace simulation
