#include "pkg/base/task_group.h"

#include <boost/asio/steady_timer.hpp>
#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pkg/base/manual_scheduler.h"

namespace base::task_group_test {
namespace {

using namespace std::chrono_literals;
using Log = std::vector<std::string>;

struct Fixture {
  asio::io_context io{1};
  ManualScheduler scheduler{io};
  TaskGroup outer{io.get_executor()};  // for the joiners
  TaskGroup group{io.get_executor()};
  Log log;

  void SpawnSleeper(const std::string& name, Duration duration) {
    group.Spawn(name, [this, name, duration]() -> Task<void> {
      co_await DeferCancellation();
      co_await scheduler.Sleep(duration);
      const bool stopping = co_await Stopping();
      log.push_back(name + (stopping ? " stopped" : " done"));
    });
  }
  void SpawnJoiner() {
    outer.Spawn("joiner", [this]() -> Task<void> {
      co_await DeferCancellation();
      co_await group.Join();
      log.push_back("joined");
    });
  }
};

TEST_CASE("task group: a task does not begin within Spawn()", "[base]") {
  Fixture f;
  f.outer.Spawn("spawner", [&]() -> Task<void> {
    f.group.Spawn("inner", [&]() -> Task<void> {
      f.log.push_back("inner");
      co_return;
    });
    f.log.push_back("spawned");
    co_return;
  });
  f.scheduler.RunUntilIdle();
  CHECK(f.log == Log{"spawned", "inner"});
}

TEST_CASE("task group: the callable lives until its task ends", "[base]") {
  Fixture f;
  auto token = std::make_shared<int>(7);
  const std::weak_ptr<int> watch = token;
  f.group.Spawn("holder", [&f, token]() -> Task<void> {
    co_await f.scheduler.Sleep(1s);
    f.log.push_back(std::to_string(*token));
  });
  token.reset();
  f.scheduler.RunUntilIdle();
  CHECK_FALSE(watch.expired());
  f.scheduler.RunFor(1s);
  CHECK(f.log == Log{"7"});
  CHECK(watch.expired());
  CHECK(f.group.empty());
}

TEST_CASE("task group: a task that is cancelled before it began does not run", "[base]") {
  Fixture f;
  f.group.Spawn("never", [&]() -> Task<void> {
    f.log.push_back("ran");
    co_return;
  });
  CHECK(f.group.size() == 1);
  f.group.Cancel();
  f.scheduler.RunUntilIdle();
  CHECK(f.log.empty());
  CHECK(f.group.empty());
}

TEST_CASE("task group: Cancel() ends the waits of all tasks, and may be repeated", "[base]") {
  Fixture f;
  f.SpawnSleeper("a", 1h);
  f.SpawnSleeper("b", 2h);
  f.scheduler.RunUntilIdle();
  f.group.Cancel();
  f.group.Cancel();
  f.scheduler.RunUntilIdle();
  CHECK(f.log == Log{"a stopped", "b stopped"});
  CHECK(f.group.empty());
  f.group.Cancel();  // there is no task
  f.scheduler.RunUntilIdle();
}

TEST_CASE("task group: tasks may end and others begin while they are cancelled", "[base]") {
  Fixture f;
  f.SpawnSleeper("short", 1s);
  f.SpawnSleeper("long", 1h);
  f.group.Spawn("canceller", [&]() -> Task<void> {
    co_await f.scheduler.Sleep(1s);
    f.SpawnSleeper("late", 2s);
    f.group.Cancel();
  });
  f.scheduler.RunFor(1s);
  CHECK(f.group.empty());
  CHECK(f.log.front() == "short done");
}

TEST_CASE("task group: Join() returns when the last task has ended", "[base]") {
  Fixture f;
  f.SpawnSleeper("a", 1s);
  f.SpawnSleeper("b", 3s);
  f.SpawnJoiner();
  f.scheduler.RunFor(2s);
  CHECK(f.log == Log{"a done"});
  f.scheduler.RunFor(1s);
  CHECK(f.log == Log{"a done", "b done", "joined"});
}

TEST_CASE("task group: JoinOrCancel() passes a cancellation on to the tasks", "[base]") {
  Fixture f;
  const auto join = [&]() -> Task<void> {
    const bool cancelled = co_await f.group.JoinOrCancel();
    f.log.push_back(cancelled ? "cancelled" : "joined");
  };
  f.SpawnSleeper("a", 1s);
  f.outer.Spawn("joiner", join);
  f.scheduler.RunFor(1s);
  CHECK(f.log == Log{"a done", "joined"});
  f.log.clear();
  f.SpawnSleeper("b", 1h);
  f.SpawnSleeper("c", 1h);
  f.outer.Spawn("joiner", join);
  f.scheduler.RunUntilIdle();
  f.outer.Cancel();
  f.scheduler.RunUntilIdle();
  CHECK(f.log == Log{"b stopped", "c stopped", "cancelled"});
}

TEST_CASE("task group: Join() of an empty group returns at once, again and again", "[base]") {
  Fixture f;
  f.SpawnJoiner();
  f.scheduler.RunUntilIdle();
  f.SpawnJoiner();
  f.scheduler.RunUntilIdle();
  CHECK(f.log == Log{"joined", "joined"});
}

TEST_CASE("task group: Join() waits also for a task spawned when the last one ended", "[base]") {
  Fixture f;
  f.group.Spawn("first", [&]() -> Task<void> {
    co_await f.scheduler.Sleep(1s);
    f.SpawnSleeper("second", 1s);
  });
  f.SpawnJoiner();
  f.scheduler.RunFor(1s);
  CHECK(f.log.empty());
  f.scheduler.RunFor(1s);
  CHECK(f.log == Log{"second done", "joined"});
}

TEST_CASE("task group: a cancelled joiner still waits", "[base]") {
  Fixture f;
  f.SpawnSleeper("a", 5s);
  f.SpawnJoiner();
  f.scheduler.RunFor(1s);
  f.outer.Cancel();
  f.scheduler.RunFor(1s);
  CHECK(f.log.empty());
  CHECK(f.outer.size() == 1);
  f.scheduler.RunFor(3s);
  CHECK(f.log == Log{"a done", "joined"});
}

TEST_CASE("task group: the joiner may destroy it", "[base]") {
  Fixture f;
  auto inner = std::make_optional<TaskGroup>(f.io.get_executor());
  inner->Spawn("work", [&]() -> Task<void> { co_await f.scheduler.Sleep(1s); });
  f.outer.Spawn("owner", [&]() -> Task<void> {
    co_await inner->Join();
    inner.reset();
    f.log.push_back("destroyed");
  });
  f.scheduler.RunFor(1s);
  CHECK(f.log == Log{"destroyed"});
}

TEST_CASE("task group: a task may end with the exception of its cancellation", "[base]") {
  Fixture f;
  f.group.Spawn("throws", [&]() -> Task<void> {
    co_await f.scheduler.Sleep(1h);
    co_await f.scheduler.Sleep(1h);
    f.log.push_back("not here");
  });
  f.scheduler.RunUntilIdle();
  f.group.Cancel();
  f.scheduler.RunUntilIdle();
  CHECK(f.group.empty());
  CHECK(f.log.empty());
}

}  // namespace
}  // namespace base::task_group_test
