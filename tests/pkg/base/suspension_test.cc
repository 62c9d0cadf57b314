#include "pkg/base/suspension.h"

#include <boost/asio/co_spawn.hpp>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"

namespace base::suspension_test {
namespace {

using Log = std::vector<std::string>;

struct Fixture {
  asio::io_context io{1};
  ManualScheduler scheduler{io};
  TaskGroup tasks{io.get_executor()};
  Suspension suspension;
  Log log;

  // A task that waits once, and calls `on_stop` if it is cancelled.
  void SpawnWaiter(const std::function<void()>& on_stop = nullptr) {
    tasks.Spawn("waiter", [this, on_stop]() -> Task<void> {
      co_await DeferCancellation();
      co_await suspension.Wait(on_stop);
      log.emplace_back("runs on");
    });
    scheduler.RunUntilIdle();
  }
};

TEST_CASE("suspension: the waiter continues after Resume(), in a later turn", "[base]") {
  Fixture f;
  f.SpawnWaiter();
  CHECK(f.suspension.waiting());
  f.suspension.Resume();
  CHECK_FALSE(f.suspension.waiting());
  CHECK(f.log.empty());
  f.scheduler.RunUntilIdle();
  CHECK(f.log == Log{"runs on"});
}

TEST_CASE("suspension: Resume() without a waiter has no effect, not even later", "[base]") {
  Fixture f;
  f.suspension.Resume();
  f.SpawnWaiter();
  CHECK(f.suspension.waiting());
  f.suspension.Resume();
  f.suspension.Resume();
  f.scheduler.RunUntilIdle();
  CHECK(f.log == Log{"runs on"});
}

TEST_CASE("suspension: a cancelled waiter waits on unless `on_stop` ends the wait", "[base]") {
  Fixture f;
  const bool ends = GENERATE(false, true);
  f.SpawnWaiter([&] {
    f.log.emplace_back("stop");
    if (ends) f.suspension.Resume();
  });
  f.tasks.Cancel();
  f.scheduler.RunUntilIdle();
  CHECK(f.log == (ends ? Log{"stop", "runs on"} : Log{"stop"}));
  f.suspension.Resume();
  f.scheduler.RunUntilIdle();
}

TEST_CASE("suspension: it can be used again", "[base]") {
  Fixture f;
  for (int i = 0; i < 3; ++i) {
    f.SpawnWaiter();
    f.suspension.Resume();
    f.scheduler.RunUntilIdle();
  }
  CHECK(f.log == Log{"runs on", "runs on", "runs on"});
}

Task<void> WaitOwning(std::shared_ptr<Suspension> owned) { co_await owned->Wait(); }

TEST_CASE("suspension: an abandoned waiter is destroyed with what it owns", "[base]") {
  asio::io_context io{1};
  std::weak_ptr<Suspension> seen;
  {
    auto owned = std::make_shared<Suspension>();
    seen = owned;
    asio::co_spawn(io, WaitOwning(std::move(owned)), [](const std::exception_ptr&) {});
  }
  io.poll();
  REQUIRE_FALSE(seen.expired());
  seen.lock()->Abandon();
  io.restart();
  io.poll();
  CHECK(seen.expired());
}

Task<void> SleepOwning(ManualScheduler& scheduler, std::shared_ptr<int> /*token*/) {
  co_await scheduler.Sleep(std::chrono::hours(1));
}

TEST_CASE("manual scheduler: sleeping coroutines are destroyed with it", "[base]") {
  asio::io_context io{1};
  auto scheduler = std::make_unique<ManualScheduler>(io);
  const auto token = std::make_shared<int>();
  for (int i = 0; i < 3; ++i) {
    asio::co_spawn(io, SleepOwning(*scheduler, token), [](const std::exception_ptr&) {});
  }
  scheduler->RunUntilIdle();
  CHECK(token.use_count() == 4);
  scheduler.reset();
  io.restart();
  io.poll();
  CHECK(token.use_count() == 1);
}

}  // namespace
}  // namespace base::suspension_test
