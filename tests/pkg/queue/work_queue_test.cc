#include "pkg/queue/work_queue.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace work_queue_test {

using namespace std::chrono_literals;

namespace {

class Recorder final : public queue::Observer {
 public:
  void Depth(std::size_t keys) override { depth = keys; }
  void Added() override { ++adds; }
  void Waited(base::Duration duration) override { waited.push_back(duration); }
  void Worked(base::Duration duration) override { worked.push_back(duration); }
  void Retried() override { ++retries; }

  std::size_t depth = 0;
  int adds = 0;
  int retries = 0;
  std::vector<base::Duration> waited;
  std::vector<base::Duration> worked;
};

struct Fixture {
  base::ManualClock clock;
  Recorder metrics;
  queue::WorkQueue<std::string> queue{clock, {}, metrics};

  std::string Get() { return queue.Get().value_or("-"); }
};

}  // namespace

TEST_CASE("work queue: any number of adds before the work cause one piece of work", "[queue]") {
  Fixture f;
  for (int i = 0; i < 3; ++i) f.queue.Add("a");
  CHECK(f.queue.Len() == 1);
  CHECK(f.Get() == "a");
  CHECK(f.Get() == "-");
  CHECK(f.metrics.adds == 1);
}

TEST_CASE("work queue: an add during the work causes another one after Done", "[queue]") {
  Fixture f;
  f.queue.Add("a");
  REQUIRE(f.Get() == "a");
  f.queue.Add("a");
  f.queue.Add("a");
  CHECK(f.Get() == "-");  // two workers never have the same key
  f.queue.Done("a");
  CHECK(f.Get() == "a");
  f.queue.Done("a");
  CHECK(f.Get() == "-");
}

TEST_CASE("work queue: keys are returned in the order of their adds", "[queue]") {
  Fixture f;
  for (const char* key : {"c", "a", "b", "a"}) f.queue.Add(key);
  CHECK(f.Get() == "c");
  CHECK(f.Get() == "a");
  CHECK(f.Get() == "b");
}

TEST_CASE("work queue: a planned visit keeps the earlier of two times", "[queue]") {
  Fixture f;
  f.queue.AddAfter("a", 10s);
  f.queue.AddAfter("a", 30s);
  CHECK(f.queue.NextReady() == f.clock.Now() + 10s);
  f.queue.AddAfter("a", 4s);
  CHECK(f.queue.NextReady() == f.clock.Now() + 4s);
  f.clock.Advance(3999ms);
  CHECK(f.Get() == "-");
  f.clock.Advance(1ms);
  CHECK(f.Get() == "a");
  f.queue.Done("a");
  f.clock.Advance(1h);
  CHECK(f.Get() == "-");  // no visits at the later times
}

TEST_CASE("work queue: an add does not cancel a planned visit", "[queue]") {
  Fixture f;
  f.queue.AddAfter("a", 10s);
  f.queue.Add("a");
  CHECK(f.Get() == "a");
  f.queue.Done("a");
  f.clock.Advance(10s);
  CHECK(f.Get() == "a");
}

TEST_CASE("work queue: due visits are returned in order of time", "[queue]") {
  Fixture f;
  f.queue.AddAfter("late", 3s);
  f.queue.AddAfter("early", 1s);
  f.clock.Advance(5s);
  CHECK(f.Get() == "early");
  CHECK(f.Get() == "late");
}

TEST_CASE("work queue: a delay of zero or less is an add", "[queue]") {
  Fixture f;
  f.queue.AddAfter("a", 0s);
  f.queue.AddAfter("b", -1s);
  CHECK(f.queue.Len() == 2);
}

TEST_CASE("work queue: failures in a row wait longer until they are forgotten", "[queue]") {
  Fixture f;
  for (const auto expected : {5ms, 10ms, 20ms}) {
    f.queue.AddRateLimited("a");
    CHECK(f.queue.NextReady() == f.clock.Now() + expected);
    f.clock.Advance(expected);
    REQUIRE(f.Get() == "a");
    f.queue.Done("a");
  }
  CHECK(f.queue.NumRequeues("a") == 3);
  CHECK(f.queue.NumRequeues("b") == 0);
  f.queue.Forget("a");
  CHECK(f.queue.NumRequeues("a") == 0);
  f.queue.AddRateLimited("a");
  CHECK(f.queue.NextReady() == f.clock.Now() + 5ms);
}

TEST_CASE("work queue: the later of backoff and token bucket counts", "[queue]") {
  base::ManualClock clock;
  queue::WorkQueue<int> queue(clock, {.bucket = base::BucketOptions{.per_second = 1, .burst = 1}});
  queue.AddRateLimited(1);  // only its own 5 ms, no wait for a token
  CHECK(queue.NextReady() == clock.Now() + 5ms);
  clock.Advance(5ms);
  REQUIRE(queue.Get() == 1);
  queue.AddRateLimited(2);
  CHECK(queue.NextReady() == clock.Now() + 995ms);
}

TEST_CASE("work queue: a shutdown drains ready keys and accepts no new ones", "[queue]") {
  Fixture f;
  f.queue.Add("a");
  f.queue.AddAfter("later", 1s);
  f.queue.ShutDown();
  f.queue.Add("b");
  f.queue.AddAfter("c", 0s);
  f.queue.AddRateLimited("d");
  f.clock.Advance(1h);
  CHECK(f.Get() == "a");
  CHECK(f.Get() == "-");
  CHECK(f.queue.NextReady() == base::TimePoint::max());
}

TEST_CASE("work queue: the observer sees depth, waiting, work and retries", "[queue]") {
  Fixture f;
  f.queue.Add("a");
  f.queue.Add("b");
  CHECK(f.metrics.depth == 2);
  f.clock.Advance(2s);
  REQUIRE(f.Get() == "a");
  CHECK(f.metrics.depth == 1);
  CHECK(f.metrics.waited == std::vector<base::Duration>{2s});
  f.clock.Advance(3s);
  REQUIRE(f.Get() == "b");
  CHECK(f.queue.Running().total == 3s);
  f.clock.Advance(1s);
  CHECK(f.queue.Running().total == 5s);
  CHECK(f.queue.Running().longest == 4s);
  f.queue.Done("a");
  CHECK(f.metrics.worked == std::vector<base::Duration>{4s});
  f.queue.AddRateLimited("a");
  f.queue.AddAfter("b", 1s);
  CHECK(f.metrics.retries == 2);
}

TEST_CASE("work queue: a random history has one worker for each key and loses no add", "[queue]") {
  base::ManualClock clock;
  queue::WorkQueue<int> queue(clock);
  std::mt19937 random(42);
  std::vector<int> owed(8, 0);  // adds without a Get() since
  std::vector<bool> working(8, false);
  for (int step = 0; step < 20'000; ++step) {
    const int key = static_cast<int>(random() % 8);
    const auto index = static_cast<std::size_t>(key);
    switch (random() % 4) {
      case 0:
        queue.Add(key);
        owed[index] = 1;
        break;
      case 1:
        queue.AddAfter(key, std::chrono::milliseconds(random() % 50));
        break;
      case 2:
        if (working[index]) queue.Done(key);
        working[index] = false;
        break;
      default:
        clock.Advance(1ms);
        if (const auto got = queue.Get()) {
          const auto taken = static_cast<std::size_t>(*got);
          REQUIRE_FALSE(working[taken]);
          working[taken] = true;
          owed[taken] = 0;
        }
    }
  }
  for (int key = 0; key < 8; ++key) {
    if (working[static_cast<std::size_t>(key)]) queue.Done(key);
  }
  while (const auto got = queue.Get()) {
    owed[static_cast<std::size_t>(*got)] = 0;
    queue.Done(*got);
  }
  CHECK(owed == std::vector<int>(8, 0));
}

}  // namespace work_queue_test
