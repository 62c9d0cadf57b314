#pragma once

// Learns a quota's status through a watch, so that measured times contain no polling interval. One
// thread; every call blocks until it is done.

#include <chrono>
#include <memory>
#include <string>

#include "pkg/base/task_group.h"
#include "tests/e2e/harness/connection.h"

namespace bench {

class QuotaWatch {
 public:
  // Watches the only quota of this collection, from its current state on.
  QuotaWatch(const std::string& kubeconfig, std::string quotas);
  ~QuotaWatch();

  // Returns when status.used.pods is `pods`; throws after `timeout`.
  void WaitForPods(int pods, std::chrono::seconds timeout);
  // How long it took from the request until it was answered, and until status.used showed it.
  struct Times {
    double answered_ms = 0;
    double shown_ms = 0;
  };
  // Sends the DELETE of the pod at this path, after which status.used.pods is to be `pods`.
  Times TimeDelete(const std::string& pod, int pods);

 private:
  void Run(std::function<base::Task<void>()> task);
  base::Task<void> Open();
  base::Task<void> ReadUntil(int pods, std::chrono::milliseconds timeout);

  e2e::Connection connection_;
  std::string quotas_;
  std::unique_ptr<http::BodyStream> stream_;
  std::string lines_;
  std::string last_;
  std::string error_;
};

}  // namespace bench
