#pragma once

// What a work queue reports to its metrics (client-go v0.36.3, util/workqueue/metrics.go).
// pkg/debug/queue_metrics.h exports it. Calls come on the queue's thread and must not call back
// into the queue.

#include <cstddef>

#include "pkg/base/clock.h"

namespace queue {

class Observer {
 public:
  virtual ~Observer() = default;
  // workqueue_depth: keys that wait for a worker, including those added again while being
  // processed.
  virtual void Depth(std::size_t keys) = 0;
  // workqueue_adds_total: an add that changed something.
  virtual void Added() = 0;
  // workqueue_queue_duration_seconds: from the add to the Get().
  virtual void Waited(base::Duration duration) = 0;
  // workqueue_work_duration_seconds: from the Get() to the Done().
  virtual void Worked(base::Duration duration) = 0;
  // workqueue_retries_total: every AddAfter(), also that of AddRateLimited().
  virtual void Retried() = 0;
};

// For workqueue_unfinished_work_seconds and workqueue_longest_running_processor_seconds.
struct RunningWork {
  base::Duration total{};
  base::Duration longest{};
};

}  // namespace queue
