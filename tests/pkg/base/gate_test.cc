#include "pkg/base/gate.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"

namespace base::gate_test {
namespace {

using namespace std::chrono_literals;
using Log = std::vector<std::string>;

struct Fixture {
  asio::io_context io{1};
  ManualScheduler scheduler{io};
  Gate gate{scheduler};
  TaskGroup group{io.get_executor()};
  Log log;

  // Enters within `patience` and stays for `stay`.
  void SpawnVisitor(const std::string& name, Duration patience, Duration stay) {
    group.Spawn(name, [this, name, patience, stay]() -> Task<void> {
      co_await DeferCancellation();
      const bool inside = co_await gate.Enter(scheduler.Now() + patience);
      log.push_back(name + (inside ? " in" : " gave up"));
      if (!inside) co_return;
      co_await IgnoreCancellation();
      co_await scheduler.Sleep(stay);
      log.push_back(name + " out");
      gate.Leave();
    });
  }
};

TEST_CASE("gate: visitors enter one by one, in order of arrival", "[base]") {
  Fixture f;
  for (const char* name : {"a", "b", "c"}) f.SpawnVisitor(name, 1min, 1s);
  f.scheduler.RunFor(10s);
  CHECK(f.log == Log{"a in", "a out", "b in", "b out", "c in", "c out"});
  CHECK_FALSE(f.gate.busy());
}

TEST_CASE("gate: a visitor that waits too long gives up, and the next ones proceed", "[base]") {
  Fixture f;
  f.SpawnVisitor("a", 1min, 5s);
  f.SpawnVisitor("b", 2s, 1s);
  f.SpawnVisitor("c", 1min, 1s);
  f.scheduler.RunFor(1min);
  CHECK(f.log == Log{"a in", "b gave up", "a out", "c in", "c out"});
}

TEST_CASE("gate: a cancelled visitor is not inside", "[base]") {
  Fixture f;
  REQUIRE(f.gate.TryEnter());
  f.SpawnVisitor("b", 1min, 1s);
  f.scheduler.RunUntilIdle();
  SECTION("cancelled while it waits") {
    f.group.Cancel();
    f.scheduler.RunUntilIdle();
    CHECK(f.log == Log{"b gave up"});
    f.gate.Leave();
    CHECK(f.gate.TryEnter());
    f.gate.Leave();
  }
  SECTION("let in in the same moment") {
    f.gate.Leave();
    f.group.Cancel();
    f.scheduler.RunFor(1min);
    CHECK_FALSE(f.gate.busy());
  }
}

TEST_CASE("gate: no visitor overtakes another", "[base]") {
  Fixture f;
  REQUIRE(f.gate.TryEnter());
  f.SpawnVisitor("b", 1min, 1s);
  f.scheduler.RunUntilIdle();
  f.gate.Leave();
  CHECK(f.gate.busy());  // b is admitted, although it has not run yet
  CHECK_FALSE(f.gate.TryEnter());
  f.scheduler.RunFor(1min);
  CHECK(f.log == Log{"b in", "b out"});
}

TEST_CASE("gate: as many are inside as there are places", "[base]") {
  Fixture f;
  Gate pair(f.scheduler, 2);
  REQUIRE(pair.TryEnter());
  CHECK_FALSE(pair.busy());
  REQUIRE(pair.TryEnter());
  CHECK(pair.busy());
  CHECK_FALSE(pair.TryEnter());
  f.group.Spawn("third", [&]() -> Task<void> {
    const bool inside = co_await pair.Enter(f.scheduler.Now() + 1min);
    if (inside) f.log.emplace_back("third in");
  });
  f.scheduler.RunUntilIdle();
  CHECK(f.log.empty());
  pair.Leave();
  CHECK(pair.busy());  // the third has the place
  f.scheduler.RunUntilIdle();
  CHECK(f.log == Log{"third in"});
  pair.Leave();
  pair.Leave();
  CHECK_FALSE(pair.busy());
}

}  // namespace
}  // namespace base::gate_test
