#include "tests/simulation/replica_clock.h"

#include <algorithm>
#include <boost/asio/this_coro.hpp>

namespace simulation {
namespace {

using std::chrono_literals::operator""us;
using std::chrono_literals::operator""h;

base::Duration Scaled(base::Duration duration, double by) {
  return std::chrono::duration_cast<base::Duration>(
      std::chrono::duration<double, base::Duration::period>(static_cast<double>(duration.count()) *
                                                            by));
}

bool IsCancelled(const base::asio::cancellation_state& state) {
  return state.cancelled() != base::asio::cancellation_type::none;
}

}  // namespace

class ReplicaClock::ReplicaAlarm final : public base::Alarm {
 public:
  explicit ReplicaAlarm(ReplicaClock& clock) : clock_(clock), inner_(clock.truth_.NewAlarm()) {}

  base::Task<void> WaitUntil(base::TimePoint deadline) override {
    // As base::Stopping(), without a coroutine of its own: a schedule waits thousands of times.
    auto state = co_await base::asio::this_coro::cancellation_state;
    while (!IsCancelled(state) && !woken_ && clock_.Now() < deadline) {
      co_await inner_->WaitUntil(clock_.TruthOf(deadline));
      state = co_await base::asio::this_coro::cancellation_state;
    }
    while (!IsCancelled(state) && clock_.truth_.Now() < Released()) {
      co_await inner_->WaitUntil(Released());
      state = co_await base::asio::this_coro::cancellation_state;
    }
    woken_ = false;
  }

  void Wake() override {
    woken_ = true;
    inner_->Wake();
  }

 private:
  [[nodiscard]] base::TimePoint Released() const {
    if (clock_.paused_until_ == base::TimePoint{}) return {};
    return clock_.paused_until_ + (woken_ ? 0us : 1us);
  }

  ReplicaClock& clock_;
  std::unique_ptr<base::Alarm> inner_;
  bool woken_ = false;
};

ReplicaClock::ReplicaClock(base::ManualScheduler& truth, base::Duration ahead, double rate)
    : truth_(truth), began_(truth.Now()), ahead_(ahead), rate_(rate) {}

base::TimePoint ReplicaClock::Now() const {
  return began_ + ahead_ + Scaled(truth_.Now() - began_, rate_);
}

base::WallTime ReplicaClock::WallNow() const {
  return base::WallTime(
      std::chrono::duration_cast<base::WallTime::duration>(Now().time_since_epoch()));
}

base::TimePoint ReplicaClock::TruthOf(base::TimePoint mine) const {
  // Scaled() would overflow. The microsecond rounds up, so that no alarm ends before its time.
  if (mine - Now() > 10'000h || mine == base::TimePoint::max()) return base::TimePoint::max();
  return truth_.Now() + Scaled(mine - Now(), 1 / rate_) + 1us;
}

std::unique_ptr<base::Alarm> ReplicaClock::NewAlarm() {
  return std::make_unique<ReplicaAlarm>(*this);
}

void ReplicaClock::PauseFor(base::Duration duration) {
  if (!paused()) {
    paused_before_ += std::max(base::Duration::zero(), paused_until_ - paused_at_);
    paused_at_ = truth_.Now();
  }
  // Alarms wait for the end of the pause, and are not woken when it changes. So it must not become
  // earlier.
  paused_until_ = std::max(paused_until_, truth_.Now() + duration);
}

base::TimePoint ReplicaClock::NowWithoutPauses() const {
  const base::TimePoint end = std::min(truth_.Now(), paused_until_);
  const base::Duration last = std::max(base::Duration::zero(), end - paused_at_);
  return Now() - Scaled(paused_before_ + last, rate_);
}

base::Task<void> ReplicaClock::WhilePaused() {
  const std::unique_ptr<base::Alarm> alarm = NewAlarm();
  bool stopping = co_await base::Stopping();
  while (!stopping && paused()) {
    co_await alarm->WaitUntil(Now());
    stopping = co_await base::Stopping();
  }
}

}  // namespace simulation
