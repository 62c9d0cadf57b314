#include "pkg/debug/queue_metrics.h"

namespace debug {
namespace {

double Seconds(base::Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

QueueMetrics::QueueMetrics(metrics::Registry& registry, const std::string& name)
    : running_(std::make_shared<std::function<queue::RunningWork()>>()) {
  const metrics::Labels labels{{"name", name}};
  const metrics::Buckets buckets{1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10};
  depth_ = registry.NewGauge("workqueue_depth", "Current depth of workqueue", labels);
  adds_ = registry.NewCounter("workqueue_adds_total", "Total number of adds handled by workqueue",
                              labels);
  waited_ = registry.NewHistogram(
      "workqueue_queue_duration_seconds",
      "How long in seconds an item stays in workqueue before being requested.", buckets, labels);
  worked_ = registry.NewHistogram("workqueue_work_duration_seconds",
                                  "How long in seconds processing an item from workqueue takes.",
                                  buckets, labels);
  unfinished_ = registry.NewGauge(
      "workqueue_unfinished_work_seconds",
      "Seconds of unfinished work that workqueue_work_duration_seconds does not include yet.",
      labels);
  longest_ =
      registry.NewGauge("workqueue_longest_running_processor_seconds",
                        "How many seconds the longest running worker has been running.", labels);
  retries_ = registry.NewCounter("workqueue_retries_total",
                                 "Total number of retries handled by workqueue", labels);
  registry.OnScrape([running = running_, unfinished = unfinished_, longest = longest_] {
    const queue::RunningWork work = *running ? (*running)() : queue::RunningWork{};
    unfinished.Set(Seconds(work.total));
    longest.Set(Seconds(work.longest));
  });
}

void QueueMetrics::Waited(base::Duration duration) { waited_.Observe(Seconds(duration)); }
void QueueMetrics::Worked(base::Duration duration) { worked_.Observe(Seconds(duration)); }

}  // namespace debug
