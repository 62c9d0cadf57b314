#include "pkg/base/scheduler.h"

#include <boost/asio/steady_timer.hpp>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"

namespace base::scheduler_test {
namespace {

using namespace std::chrono_literals;

// A test's coroutines in virtual time. `log` has what they did, in order.
struct Fixture {
  asio::io_context io{1};
  ManualScheduler scheduler{io};
  TaskGroup tasks{io.get_executor()};
  TimePoint start = scheduler.Now();
  std::vector<std::string> log;

  [[nodiscard]] Duration Elapsed() const { return scheduler.Now() - start; }
  void SpawnSleeper(const std::string& name, Duration duration) {
    tasks.Spawn(name, [this, name, duration]() -> Task<void> {
      co_await DeferCancellation();
      co_await scheduler.Sleep(duration);
      log.push_back(name);
    });
  }
};

using Log = std::vector<std::string>;

TEST_CASE("manual scheduler: sleepers wake in the order of their deadlines", "[base]") {
  Fixture f;
  f.SpawnSleeper("late", 3s);
  f.SpawnSleeper("early", 1s);
  f.scheduler.RunFor(999ms);
  CHECK(f.log.empty());
  CHECK(f.scheduler.NextDeadline() == f.start + 1s);
  f.scheduler.RunFor(1ms);
  CHECK(f.log == Log{"early"});
  f.scheduler.RunFor(1h);
  CHECK(f.log == Log{"early", "late"});
  CHECK(f.Elapsed() == 1h + 1s);
  CHECK(f.scheduler.NextDeadline() == TimePoint::max());
}

TEST_CASE("manual scheduler: a woken coroutine sees the time of its deadline", "[base]") {
  Fixture f;
  std::vector<Duration> seen;
  f.tasks.Spawn("ticker", [&]() -> Task<void> {
    for (int i = 0; i < 3; ++i) {
      co_await f.scheduler.Sleep(10s);
      seen.push_back(f.Elapsed());
    }
  });
  f.scheduler.RunFor(1h);
  CHECK(seen == std::vector<Duration>{10s, 20s, 30s});
}

TEST_CASE("manual scheduler: both clocks move together", "[base]") {
  Fixture f;
  const WallTime wall = f.scheduler.WallNow();
  f.scheduler.RunFor(90s);
  CHECK(f.scheduler.WallNow() - wall == 90s);
}

TEST_CASE("alarm: Wake() ends a wait, and a Wake() before it is not lost", "[base]") {
  Fixture f;
  const auto alarm = f.scheduler.NewAlarm();
  f.tasks.Spawn("waiter", [&]() -> Task<void> {
    for (int i = 0; i < 3; ++i) {
      co_await alarm->WaitUntil(f.start + 1h);
      f.log.push_back("woken");
    }
  });
  f.scheduler.RunFor(1s);
  CHECK(f.log.empty());
  alarm->Wake();
  alarm->Wake();
  f.scheduler.RunUntilIdle();
  CHECK(f.log == Log{"woken"});
  CHECK(f.Elapsed() == 1s);
  f.scheduler.RunFor(1s);
  CHECK(f.log.size() == 1);

  alarm->Wake();
  f.scheduler.RunUntilIdle();
  f.scheduler.RunFor(2h);
  CHECK(f.log.size() == 3);

  alarm->Wake();  // nobody waits
  f.tasks.Spawn("next", [&]() -> Task<void> {
    co_await alarm->WaitUntil(TimePoint::max());
    f.log.push_back("next");
  });
  f.scheduler.RunUntilIdle();
  CHECK(f.log.back() == "next");
}

TEST_CASE("alarm: a wait for a passed deadline returns at once", "[base]") {
  Fixture f;
  f.SpawnSleeper("now", 0s);
  f.SpawnSleeper("before", -5s);
  f.scheduler.RunUntilIdle();
  CHECK(f.log.size() == 2);
}

TEST_CASE("cancellation: a deferred cancellation ends the current wait and later ones", "[base]") {
  Fixture f;
  f.tasks.Spawn("loop", [&]() -> Task<void> {
    co_await DeferCancellation();
    co_await f.scheduler.Sleep(1h);
    const bool stopping = co_await Stopping();
    f.log.push_back(stopping ? "stopping" : "running");
    co_await f.scheduler.Sleep(1h);
    f.log.push_back("end");
  });
  f.scheduler.RunFor(1s);
  f.tasks.Cancel();
  f.scheduler.RunUntilIdle();
  CHECK(f.log == Log{"stopping", "end"});
  CHECK(f.Elapsed() == 1s);
  CHECK(f.scheduler.NextDeadline() == TimePoint::max());
}

TEST_CASE("cancellation: without deferral the wait throws", "[base]") {
  Fixture f;
  f.tasks.Spawn("plain", [&]() -> Task<void> {
    co_await f.scheduler.Sleep(1h);
    f.log.push_back("went on");
  });
  f.scheduler.RunFor(1s);
  f.tasks.Cancel();
  f.scheduler.RunUntilIdle();
  // The wait itself returned; the next co_await would throw.
  CHECK(f.tasks.empty());
  CHECK(f.scheduler.NextDeadline() == TimePoint::max());
}

TEST_CASE("cancellation: clean-up that ignores it is not cut short", "[base]") {
  Fixture f;
  f.tasks.Spawn("clean", [&]() -> Task<void> {
    co_await DeferCancellation();
    co_await f.scheduler.Sleep(1h);
    co_await IgnoreCancellation();
    const bool stopping = co_await Stopping();
    f.log.push_back(stopping ? "stopping" : "cleaning");
    co_await f.scheduler.Sleep(5s);
    f.log.push_back("clean");
  });
  f.scheduler.RunUntilIdle();
  f.tasks.Cancel();
  f.scheduler.RunFor(4s);
  CHECK(f.log == Log{"cleaning"});
  f.tasks.Cancel();
  f.scheduler.RunUntilIdle();
  CHECK(f.log == Log{"cleaning"});
  f.scheduler.RunFor(1s);
  CHECK(f.log == Log{"cleaning", "clean"});
}

TEST_CASE("real scheduler: deadlines, wakes and cancellations end a wait", "[base]") {
  asio::io_context io{1};
  RealScheduler scheduler(io.get_executor());
  TaskGroup tasks(io.get_executor());
  const auto alarm = scheduler.NewAlarm();
  Log log;
  tasks.Spawn("deadline", [&]() -> Task<void> {
    const TimePoint begin = scheduler.Now();
    co_await scheduler.Sleep(2ms);
    log.push_back(scheduler.Now() - begin >= 2ms ? "slept" : "too early");
    alarm->Wake();
  });
  tasks.Spawn("woken", [&]() -> Task<void> {
    co_await alarm->WaitUntil(scheduler.Now() + 1h);
    log.push_back("woken");
    tasks.Cancel();
  });
  tasks.Spawn("cancelled", [&]() -> Task<void> {
    co_await DeferCancellation();
    co_await scheduler.Sleep(1h);
    co_await scheduler.Sleep(1h);
    log.push_back("cancelled");
  });
  io.run();
  CHECK(log == Log{"slept", "woken", "cancelled"});
}

}  // namespace
}  // namespace base::scheduler_test
