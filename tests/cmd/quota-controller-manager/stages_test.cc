#include "cmd/quota-controller-manager/stages.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "pkg/base/manual_scheduler.h"

namespace stages_test {
namespace {

using namespace std::chrono_literals;
using Log = std::vector<std::string>;

struct Fixture {
  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  manager::Stages stages{io.get_executor()};
  base::TaskGroup outer{io.get_executor()};
  Log log;

  // Runs until it is stopped. Then it takes the time `clean_up` to end.
  manager::StageTask Part(const std::string& name, base::Duration clean_up = 0ms) {
    return {name, [this, name, clean_up]() -> base::Task<void> {
              co_await base::DeferCancellation();
              log.push_back(name + " starts");
              co_await scheduler.Sleep(1h);
              log.push_back(name + " stops");
              co_await base::IgnoreCancellation();
              co_await scheduler.Sleep(clean_up);
              log.push_back(name + " ended");
            }};
  }
  void Stop() {
    outer.Spawn("stop", [this]() -> base::Task<void> {
      co_await stages.Stop();
      log.push_back("all ended");
    });
  }
};

}  // namespace

TEST_CASE("stages: a stage starts before those that depend on it", "[manager]") {
  Fixture f;
  f.stages.Add({f.Part("user")});
  f.stages.Add({f.Part("server")});
  f.scheduler.RunUntilIdle();
  CHECK(f.log.empty());
  f.stages.Start();
  f.scheduler.RunUntilIdle();
  CHECK(f.log == Log{"server starts", "user starts"});
  f.Stop();
  f.scheduler.RunFor(1s);
}

TEST_CASE("stages: a stage stops after every task of the stage above has ended", "[manager]") {
  Fixture f;
  f.stages.Add({f.Part("a", 1s), f.Part("b", 5s)});
  f.stages.Add({f.Part("c", 1s)});
  f.stages.Start();
  f.scheduler.RunUntilIdle();
  f.log.clear();
  f.Stop();
  f.scheduler.RunFor(3s);
  CHECK(f.log == Log{"a stops", "b stops", "a ended"});
  f.scheduler.RunFor(3s);
  CHECK(f.log ==
        Log{"a stops", "b stops", "a ended", "b ended", "c stops", "c ended", "all ended"});
}

TEST_CASE("stages: a stage may define how it stops", "[manager]") {
  Fixture f;
  const std::unique_ptr<base::Alarm> closed = f.scheduler.NewAlarm();
  f.stages.Add({{"server",
                 [&]() -> base::Task<void> {
                   co_await base::DeferCancellation();
                   co_await closed->WaitUntil(base::TimePoint::max());
                   const bool cancelled = co_await base::Stopping();
                   f.log.push_back(cancelled ? "cancelled" : "closed");
                 }}},
               [&](base::TaskGroup& tasks) {
                 tasks.Spawn("good-bye", [&]() -> base::Task<void> {
                   co_await f.scheduler.Sleep(2s);
                   f.log.emplace_back("said good-bye");
                 });
                 closed->Wake();
               });
  f.stages.Add({f.Part("next")});
  f.stages.Start();
  f.scheduler.RunUntilIdle();
  f.log.clear();
  f.Stop();
  f.scheduler.RunFor(1s);
  CHECK(f.log == Log{"closed"});
  f.scheduler.RunFor(1s);
  CHECK(f.log == Log{"closed", "said good-bye", "next stops", "next ended", "all ended"});
}

TEST_CASE("stages: a stage without tasks delays nothing", "[manager]") {
  Fixture f;
  f.stages.Add({});
  f.stages.Add({f.Part("a")});
  f.stages.Start();
  f.scheduler.RunUntilIdle();
  f.Stop();
  f.scheduler.RunUntilIdle();
  CHECK(f.log.back() == "all ended");
}

}  // namespace stages_test
