#pragma once

// The metrics of one work queue, with the names that dashboards of Kubernetes' own components use
// (component-base v0.36.3, metrics/prometheus/workqueue). All start at zero.
//
// Single-threaded; the registry outlives it, the queue's observer outlives the queue.

#include <functional>
#include <memory>
#include <string>

#include "pkg/metrics/registry.h"
#include "pkg/queue/observer.h"

namespace debug {

class QueueMetrics final : public queue::Observer {
 public:
  // `name` is the label `name` of every series.
  QueueMetrics(metrics::Registry& registry, const std::string& name);

  // Work under way, asked for at every scrape until it is replaced. Call it with nullptr before the
  // queue goes.
  void Follow(std::function<queue::RunningWork()> running) { *running_ = std::move(running); }

  void Depth(std::size_t keys) override { depth_.Set(static_cast<double>(keys)); }
  void Added() override { adds_.Increment(); }
  void Waited(base::Duration duration) override;
  void Worked(base::Duration duration) override;
  void Retried() override { retries_.Increment(); }

 private:
  metrics::Gauge depth_;
  metrics::Counter adds_;
  metrics::Histogram waited_;
  metrics::Histogram worked_;
  metrics::Gauge unfinished_;
  metrics::Gauge longest_;
  metrics::Counter retries_;
  // Shared with the registry's refresh, which may outlive this.
  std::shared_ptr<std::function<queue::RunningWork()>> running_;
};

}  // namespace debug
