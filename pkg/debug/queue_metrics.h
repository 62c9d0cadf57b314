#pragma once

// The metrics of one work queue, with the names that dashboards for Kubernetes' own components use
// (component-base v0.36.3, metrics/prometheus/workqueue). All start at zero.
//
// Single-threaded. The registry must outlive it, and the queue's observer must outlive the queue.

#include <functional>
#include <memory>
#include <string>

#include "pkg/metrics/registry.h"
#include "pkg/queue/observer.h"

namespace debug {

class QueueMetrics final : public queue::Observer {
 public:
  // `name` is the value of the label `name` in every series.
  QueueMetrics(metrics::Registry& registry, const std::string& name);

  // `running` is called at every scrape, for the unfinished work. Call Follow(nullptr) before the
  // queue is destroyed.
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
  // Shared with the registry's refresh, which may outlive this object.
  std::shared_ptr<std::function<queue::RunningWork()>> running_;
};

}  // namespace debug
