#pragma once

// Reads quotas from the API server for callers that come in crowds: the callers of one quota that
// wait at the same time share one read, and its result is given for 100 ms more.
//
// Single-threaded. `quotas` must outlive it.

#include <cstddef>
#include <map>
#include <memory>
#include <optional>

#include "controllers/quota/observed_quotas.h"
#include "pkg/base/gate.h"

namespace controllers {

class SharedReads {
 public:
  static constexpr std::chrono::milliseconds kFresh{100};
  static constexpr std::size_t kMost = 64;  // quotas that are read or remembered

  SharedReads(base::Scheduler& scheduler, ObservedQuotas& quotas)
      : scheduler_(scheduler), quotas_(quotas) {}

  // As ObservedQuotas::Read(). Errors: also kTimeout after the deadline, and kUnavailable if too
  // many quotas are read at the same time. An error is shared, too.
  base::Task<base::Result<quota::Quota>> Read(quota::Quota quota, base::TimePoint deadline);

 private:
  struct Reading {
    explicit Reading(base::Scheduler& scheduler) : gate(scheduler) {}
    base::Gate gate;  // held by the caller that reads
    std::optional<base::Result<quota::Quota>> result = {};
    base::TimePoint at{};  // of the result
  };

  base::Scheduler& scheduler_;
  ObservedQuotas& quotas_;
  std::map<api::ObjectKey, std::shared_ptr<Reading>> readings_;
};

}  // namespace controllers
