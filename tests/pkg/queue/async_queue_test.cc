#include "pkg/queue/async_queue.h"

#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "pkg/base/manual_scheduler.h"
#include "pkg/base/task_group.h"

namespace async_queue_test {

using namespace std::chrono_literals;

namespace {

struct Fixture {
  base::asio::io_context io;
  base::ManualScheduler scheduler{io};
  base::TaskGroup group{io.get_executor()};
  queue::AsyncQueue<std::string> queue{scheduler};
  std::vector<std::string> worked;  // "key@milliseconds since the start"
  base::TimePoint start = scheduler.Now();
  base::Duration work{};
  int ended = 0;

  void Workers(int count) {
    for (int i = 0; i < count; ++i) group.Spawn("worker", [this] { return Work(); });
    scheduler.RunUntilIdle();
  }

  base::Task<void> Work() {
    co_await base::DeferCancellation();
    for (;;) {
      const std::optional<std::string> key = co_await queue.Pop();
      if (!key) break;
      const auto at =
          std::chrono::duration_cast<std::chrono::milliseconds>(scheduler.Now() - start);
      worked.push_back(*key + "@" + std::to_string(at.count()));
      if (work > base::Duration::zero()) co_await scheduler.Sleep(work);
      queue.Done(*key);
    }
    ++ended;
  }

  void Stop() {
    group.Cancel();
    scheduler.RunUntilIdle();
    CHECK(group.empty());
  }
};

using Worked = std::vector<std::string>;

}  // namespace

TEST_CASE("async queue: an add wakes a waiting worker", "[queue]") {
  Fixture f;
  f.Workers(1);
  CHECK(f.worked.empty());
  f.queue.Add("a");
  f.scheduler.RunUntilIdle();
  CHECK(f.worked == Worked{"a@0"});
  f.Stop();
}

TEST_CASE("async queue: several workers share what is added at once", "[queue]") {
  Fixture f;
  f.work = 1s;
  f.Workers(3);
  for (const char* key : {"a", "b", "c", "d"}) f.queue.Add(key);
  f.scheduler.RunFor(5s);
  CHECK(f.worked == Worked{"a@0", "b@0", "c@0", "d@1000"});
  f.Stop();
}

TEST_CASE("async queue: a planned visit is kept while another worker is busy", "[queue]") {
  Fixture f;
  f.work = 10s;
  f.Workers(2);
  f.queue.AddAfter("planned", 2s);
  f.scheduler.RunUntilIdle();
  f.queue.Add("now");
  f.scheduler.RunFor(3s);
  CHECK(f.worked == Worked{"now@0", "planned@2000"});
  f.scheduler.RunFor(20s);
  f.Stop();
}

TEST_CASE("async queue: a planned visit wakes one worker, however many are idle", "[queue]") {
  const auto turns_with = [](int workers) {
    Fixture f;
    f.Workers(workers);
    int turns = 0;
    f.scheduler.OnTurn([&] { ++turns; });
    for (const char* key : {"a", "b", "c", "d"}) f.queue.AddAfter(key, 1s);
    f.queue.AddAfter("e", 500ms);
    f.scheduler.RunFor(2s);
    CHECK(f.worked.size() == 5);
    f.scheduler.OnTurn(nullptr);
    f.Stop();
    return turns;
  };
  CHECK(turns_with(50) <= 3 * turns_with(2));
}

TEST_CASE("async queue: a planned visit outlives the worker that waits for it", "[queue]") {
  Fixture f;
  base::TaskGroup doomed(f.io.get_executor());
  doomed.Spawn("doomed", [&f] { return f.Work(); });
  f.scheduler.RunUntilIdle();
  f.Workers(2);
  f.queue.AddAfter("planned", 2s);
  f.scheduler.RunFor(1s);
  doomed.Cancel();
  f.scheduler.RunFor(2s);
  CHECK(f.worked == Worked{"planned@2000"});
  f.queue.AddAfter("again", 1s);
  f.scheduler.RunFor(2s);
  CHECK(f.worked == Worked{"planned@2000", "again@4000"});
  CHECK(doomed.empty());
  f.Stop();
}

TEST_CASE("async queue: a key added while worked on runs again when it is done", "[queue]") {
  Fixture f;
  f.work = 1s;
  f.Workers(2);
  f.queue.Add("a");
  f.scheduler.RunUntilIdle();
  f.queue.Add("a");
  f.scheduler.RunFor(3s);
  CHECK(f.worked == Worked{"a@0", "a@1000"});
  f.Stop();
}

TEST_CASE("async queue: a shutdown drains the queue, then every worker ends", "[queue]") {
  Fixture f;
  f.work = 1s;
  f.Workers(2);
  for (const char* key : {"a", "b", "c"}) f.queue.Add(key);
  f.queue.ShutDown();
  f.queue.Add("late");
  f.scheduler.RunFor(5s);
  CHECK(f.worked == Worked{"a@0", "b@0", "c@1000"});
  CHECK(f.ended == 2);
  CHECK(f.group.empty());
}

TEST_CASE("async queue: cancellation ends workers that wait", "[queue]") {
  Fixture f;
  f.Workers(2);
  f.Stop();
  CHECK(f.ended == 2);
}

TEST_CASE("async queue: a wake-up of a cancelled worker is passed on", "[queue]") {
  Fixture f;
  base::TaskGroup doomed(f.io.get_executor());
  doomed.Spawn("doomed", [&f] { return f.Work(); });
  f.scheduler.RunUntilIdle();
  f.Workers(1);
  f.queue.Add("a");  // wakes the cancelled worker, which waited longest
  doomed.Cancel();
  f.scheduler.RunUntilIdle();
  CHECK(f.worked == Worked{"a@0"});
  CHECK(doomed.empty());
  f.Stop();
}

}  // namespace async_queue_test
