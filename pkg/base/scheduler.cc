#include "pkg/base/scheduler.h"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

namespace base {
namespace {

class RealAlarm final : public Alarm {
 public:
  explicit RealAlarm(const asio::any_io_executor& executor) : timer_(executor) {}

  Task<void> WaitUntil(TimePoint deadline) override {
    const bool stopping = co_await Stopping();
    // A Wake() before the wait ends it at once.
    if (stopping || std::exchange(woken_, false)) co_return;
    timer_.expires_at(deadline);
    co_await timer_.async_wait(kTuple);
    woken_ = false;
  }

  void Wake() override {
    woken_ = true;
    timer_.cancel();
  }

 private:
  asio::steady_timer timer_;
  bool woken_ = false;
};

}  // namespace

std::unique_ptr<Alarm> RealScheduler::NewAlarm() { return std::make_unique<RealAlarm>(executor_); }

Task<void> Scheduler::Sleep(Duration duration) {
  const std::unique_ptr<Alarm> alarm = NewAlarm();
  co_await alarm->WaitUntil(Now() + duration);
}

Task<bool> Stopping() {
  const auto state = co_await asio::this_coro::cancellation_state;
  co_return state.cancelled() != asio::cancellation_type::none;
}

Task<void> DeferCancellation() { co_await asio::this_coro::throw_if_cancelled(false); }

Task<void> NextTurn() { co_await asio::post(asio::use_awaitable); }

Task<void> IgnoreCancellation() {
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
}

}  // namespace base
