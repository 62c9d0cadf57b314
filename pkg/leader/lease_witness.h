#pragma once

// Tells whether somebody holds a lease, for a process that takes no part in the election. A
// record's age is the time since it was first seen here, as for a candidate (elector.h): times in
// the record are never compared with a clock.
//
// Single-threaded; one call at a time. Client and clock must outlive it.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "pkg/base/clock.h"
#include "pkg/leader/lease_lock.h"

namespace leader {

class LeaseWitness {
 public:
  LeaseWitness(client::ApiClient& client, const base::Clock& clock, api::ObjectKey lease)
      : lock_(client, std::move(lease)), clock_(clock) {}

  // True if the lease was renewed within its duration, or was not seen for so long yet. Errors: it
  // cannot be read.
  base::Task<base::Result<bool>> MayBeHeld(std::chrono::milliseconds timeout) {
    const auto lease = co_await lock_.Read(timeout);
    if (!lease) co_return lease.error();
    if (!*lease || (*lease)->holder.empty()) co_return false;
    const base::TimePoint now = clock_.Now();
    const std::pair<std::string, std::string> seen((*lease)->holder, (*lease)->renew_time);
    if (std::exchange(seen_, seen) != seen) since_ = now;
    // Somebody may have written any number. A daemon's own lease takes seconds.
    const std::int64_t written = (*lease)->duration_seconds;
    const std::chrono::seconds duration(written < 1 ? kDefault : std::min(written, kLongest));
    co_return now - since_ < duration;
  }

 private:
  static constexpr std::int64_t kDefault = 15;
  static constexpr std::int64_t kLongest = 3600;

  LeaseLock lock_;
  const base::Clock& clock_;
  std::pair<std::string, std::string> seen_;  // holder and time of the last renewal
  base::TimePoint since_{};                   // when these were seen first
};

}  // namespace leader
