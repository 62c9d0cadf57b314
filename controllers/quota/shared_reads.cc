#include "controllers/quota/shared_reads.h"

#include <utility>

namespace controllers {

base::Task<base::Result<quota::Quota>> SharedReads::Read(quota::Quota quota,
                                                         base::TimePoint deadline) {
  std::erase_if(readings_, [now = scheduler_.Now()](const auto& entry) {
    const Reading& old = *entry.second;
    return !old.gate.busy() && now - old.at >= kFresh;
  });
  if (readings_.size() >= kMost && !readings_.contains(quota.key)) {
    co_return base::Error{.code = base::ErrorCode::kUnavailable,
                          .message = "too many quotas are read at the same time"};
  }
  std::shared_ptr<Reading>& held = readings_[quota.key];
  if (held == nullptr) held = std::make_shared<Reading>(scheduler_);
  const std::shared_ptr<Reading> reading = held;
  const bool inside = co_await reading->gate.Enter(deadline);
  if (!inside) {
    co_return base::Error{.code = base::ErrorCode::kTimeout,
                          .message = "quota " + quota.key.ToString() + " is being read"};
  }
  const base::LeavesGate leave{reading->gate};
  const bool fresh = reading->result && scheduler_.Now() - reading->at < kFresh;
  if (fresh) co_return *reading->result;
  auto result = co_await quotas_.Read(std::move(quota), deadline);
  reading->at = scheduler_.Now();
  reading->result = result;
  co_return result;
}

}  // namespace controllers
