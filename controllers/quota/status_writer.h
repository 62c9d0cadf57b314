#pragma once

// Makes guarded writes of quota statuses with their reservations. If the answer to a write that
// reserves is lost, the number of its last entry shows whether the write was made.
//
// Single-threaded.

#include <cstdint>

#include "controllers/quota/events/quota_reporter.h"
#include "controllers/quota/observed_quotas.h"
#include "controllers/usage/observed_usage.h"

namespace controllers {

class StatusWriter {
 public:
  // `reporter` is told of each write that was made, and of each that the server refuses for a
  // reason that lasts, such as a missing right or an admission policy. All references must outlive
  // it.
  StatusWriter(const TrackingContext& context, ObservedQuotas& quotas, const ObservedUsage& usage,
               QuotaReporter& reporter)
      : scheduler_(*context.scheduler),
        client_(*context.client),
        quotas_(quotas),
        usage_(usage),
        reporter_(reporter) {}

  // Returns the quota that the write made, and gives it to the store. Commits or aborts the write
  // in its account as soon as its outcome is known. Errors: kConflict also if the quota has
  // changed; otherwise the reason why the write was not made, as far as is known.
  base::Task<base::Result<quota::Quota>> Write(PendingWrite write, base::TimePoint deadline);

 private:
  base::Task<base::Result<quota::Quota>> Find(quota::Quota quota, std::uint64_t entry,
                                              base::Error error, base::TimePoint deadline);
  // True if the store has another version of the quota.
  [[nodiscard]] bool IsShownAfter(const quota::Quota& quota) const;
  // Tells the account the outcome of a write. `not_made`: its answer said so.
  void End(PendingWrite write, const base::Result<quota::Quota>& written, bool not_made);

  base::Scheduler& scheduler_;
  client::ApiClient& client_;
  ObservedQuotas& quotas_;
  const ObservedUsage& usage_;
  QuotaReporter& reporter_;
};

}  // namespace controllers
