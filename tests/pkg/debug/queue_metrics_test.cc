#include "pkg/debug/queue_metrics.h"

#include <catch2/catch.hpp>
#include <memory>

#include "pkg/queue/work_queue.h"

using namespace std::chrono_literals;
using Catch::Matchers::Contains;

TEST_CASE("queue metrics: all start at zero", "[debug]") {
  metrics::Registry registry;
  debug::QueueMetrics metrics(registry, "quota");
  const std::string text = registry.Expose();
  for (const char* name :
       {"workqueue_depth", "workqueue_adds_total", "workqueue_retries_total",
        "workqueue_queue_duration_seconds_count", "workqueue_work_duration_seconds_count",
        "workqueue_unfinished_work_seconds", "workqueue_longest_running_processor_seconds"}) {
    CHECK_THAT(text, Contains("\n" + std::string(name) + "{name=\"quota\"} 0\n"));
  }
}

TEST_CASE("queue metrics: the work of a queue is exported under the usual names", "[debug]") {
  metrics::Registry registry;
  debug::QueueMetrics metrics(registry, "quota");
  base::ManualClock clock;
  queue::WorkQueue<int> queue(clock, {}, metrics);
  metrics.Follow([&] { return queue.Running(); });
  queue.Add(1);
  queue.Add(2);
  queue.AddAfter(3, 1min);
  clock.Advance(500ms);
  queue.Get();
  clock.Advance(2s);
  std::string text = registry.Expose();
  CHECK_THAT(text, Contains("workqueue_depth{name=\"quota\"} 1\n"));
  CHECK_THAT(text, Contains("workqueue_adds_total{name=\"quota\"} 2\n"));
  CHECK_THAT(text, Contains("workqueue_retries_total{name=\"quota\"} 1\n"));
  CHECK_THAT(text, Contains("workqueue_unfinished_work_seconds{name=\"quota\"} 2\n"));
  CHECK_THAT(text, Contains("queue_duration_seconds_bucket{name=\"quota\",le=\"0.1\"} 0\n"));
  CHECK_THAT(text, Contains("queue_duration_seconds_bucket{name=\"quota\",le=\"1\"} 1\n"));
  queue.Done(1);
  text = registry.Expose();
  CHECK_THAT(text, Contains("workqueue_unfinished_work_seconds{name=\"quota\"} 0\n"));
  CHECK_THAT(text, Contains("work_duration_seconds_sum{name=\"quota\"} 2\n"));
  CHECK_THAT(text, Contains("queue_duration_seconds_bucket{name=\"quota\",le=\"1e-08\"} 0\n"));
}

TEST_CASE("queue metrics: a scrape after the end of the queue does not use it", "[debug]") {
  metrics::Registry registry;
  {
    debug::QueueMetrics metrics(registry, "quota");
    metrics.Follow([] { return queue::RunningWork{.total = 5s, .longest = 5s}; });
    metrics.Follow(nullptr);
  }
  CHECK_THAT(registry.Expose(), Contains("unfinished_work_seconds{name=\"quota\"} 0\n"));
}
