#pragma once

// Keeps the status of one quota correct: counts the observed objects, adds open reservations and
// external charges, drops entries that are over, compares, and writes at most once. It does not
// suspend between counting and deciding what to write.
//
// Single-threaded.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/quota/asker.h"
#include "controllers/quota/cluster/cluster_status.h"
#include "controllers/quota/events/quota_reporter.h"
#include "controllers/quota/observed_quotas.h"
#include "controllers/quota/status_writer.h"
#include "controllers/usage/quota_view.h"

namespace controllers {

class Recounter {
 public:
  struct Outcome {
    std::string_view result = "unchanged";               // for the observer
    std::optional<base::Duration> after = std::nullopt;  // reconcile again after this time
    bool failed = false;  // reconcile again, later after each failure in a row
  };

  // All references must outlive it. `cluster` is null if the status has only hard and used.
  Recounter(const TrackingContext& context, const QuotaControllerOptions& options,
            ObservedQuotas& quotas, Tracker& tracker, const ObservedUsage& usage,
            StatusWriter& writer, QuotaReporter& reporter, ControllerObserver& observer,
            const ClusterStatus* cluster)
      : scheduler_(*context.scheduler),
        options_(options),
        quotas_(quotas),
        tracker_(tracker),
        usage_(usage),
        writer_(writer),
        reporter_(reporter),
        observer_(observer),
        cluster_(cluster),
        asker_(context, tracker) {}

  base::Task<Outcome> Reconcile(api::ObjectKey key);
  // Reconcile() waits only for writes from now on.
  void Stop() { asker_.Stop(); }

 private:
  // What a recount may write.
  struct Recount {
    Draft draft;           // without the quota
    bool differs = false;  // a stored value or the recorded `used` differs
    bool over = false;     // some entries have ended and can be removed
    // Deferrable fields wait until then.
    base::TimePoint waits_until = base::TimePoint::max();
  };
  // Names that do not enter status.hard yet.
  struct Pending {
    std::vector<std::string> not_served;  // nothing can be counted under them
    std::vector<std::string> unguarded;   // by admission, in some namespace of the quota
  };

  [[nodiscard]] Questions::Holds holds() const { return {quotas_.accounts().hold}; }
  QuotaCount Count(const quota::Quota& quota);
  // `takes_back`: also takes back grants of this process that no request needs. `may_write`: a
  // write that hard or used need may be made now; otherwise the other fields of the status, which
  // it would have, are not computed.
  [[nodiscard]] Recount Plan(const quota::Quota& quota, Account& account, const QuotaCount& count,
                             const QuotaView& view, bool takes_back, bool may_write) const;
  [[nodiscard]] Pending PendingNames(const quota::Quota& quota) const;
  [[nodiscard]] static quota::Quota InForce(const quota::Quota& quota, const Pending& pending);
  void HoldOut(const quota::Quota& quota, quota::QuotaStatus& desired) const;
  void AddFurther(const quota::Quota& quota, Account& account, const QuotaCount& count,
                  const std::vector<std::string>& unguarded, Recount& recount) const;
  [[nodiscard]] base::TimePoint EarliestWrite(const Account& account) const;
  // StatusWrites::paid_until after one more write.
  [[nodiscard]] base::TimePoint PaidUntil(const Account& account) const;
  base::Task<Outcome> Lead(quota::Quota quota, QuotaCount count, bool takes_back);
  base::Task<Outcome> WriteRecount(Recount recount, QuotaCount count);
  // Writes the known list without a recount, because it was lost, or takes back grants of this
  // process. Followers do both as well.
  base::Task<Outcome> WriteList(quota::Quota quota, bool takes_back);
  // Writes while admission does not write to this quota.
  base::Task<base::Result<quota::Quota>> Write(Draft draft);
  base::Task<Outcome> Ask(quota::Quota quota, Question question);
  void NoticeExpired(const quota::Quota& quota, const Account& account,
                     const Questions::Outcome& outcome);
  Outcome AfterFailedWrite(const api::ObjectKey& key, const base::Error& error);
  // When to reconcile again if nothing happens. A follower leaves ended entries to the leader.
  [[nodiscard]] base::TimePoint NextLook(const Account& account, const QuotaCount& count,
                                         bool leads) const;
  [[nodiscard]] Outcome LookAt(base::TimePoint next, std::string_view result) const;

  base::Scheduler& scheduler_;
  const QuotaControllerOptions& options_;
  ObservedQuotas& quotas_;
  Tracker& tracker_;
  const ObservedUsage& usage_;
  StatusWriter& writer_;
  QuotaReporter& reporter_;
  ControllerObserver& observer_;
  const ClusterStatus* cluster_;
  Asker asker_;
};

}  // namespace controllers
