#pragma once

// Keeps the status of one quota correct: counts the observed objects, adds reservations and
// external charges, compares, and writes at most once. It does not suspend between counting and
// deciding what to write.
//
// Single-threaded.

#include <optional>
#include <string_view>
#include <vector>

#include "controllers/quota/asker.h"
#include "controllers/quota/cluster/cluster_status.h"
#include "controllers/quota/controller_parts.h"
#include "controllers/quota/events/quota_reporter.h"
#include "controllers/quota/recount_planner.h"
#include "controllers/quota/status_writer.h"

namespace controllers {

class Recounter {
 public:
  struct Outcome {
    std::string_view result = "unchanged";               // for the observer
    std::optional<base::Duration> after = std::nullopt;  // reconcile again after this time
    bool failed = false;  // reconcile again, later after each failure in a row
  };

  // All references must outlive it. `cluster` is null if the status has only hard and used.
  Recounter(const ControllerParts& parts, StatusWriter& writer, QuotaReporter& reporter,
            const ClusterStatus* cluster)
      : parts_(parts),
        writer_(writer),
        reporter_(reporter),
        cluster_(cluster),
        planner_(parts, cluster),
        asker_(parts.context, parts.tracker),
        holds_{parts.options.hold} {}

  base::Task<Outcome> Reconcile(api::ObjectKey key);
  // Sets how long reservations are held from now on.
  void SetHold(base::Duration hold) { holds_.usual = hold; }
  [[nodiscard]] base::Duration hold() const { return holds_.usual; }

 private:
  QuotaCount Count(const quota::Quota& quota);
  [[nodiscard]] base::TimePoint EarliestWrite(const Account& account) const;
  // Account::paid_until after one more write.
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
  Outcome Follow(Account& account, const QuotaCount& count);
  // When to reconcile again if nothing happens. A follower leaves ended entries to the leader.
  [[nodiscard]] base::TimePoint NextLook(const Account& account, const QuotaCount& count,
                                         bool leads) const;
  [[nodiscard]] Outcome LookAt(base::TimePoint next, std::string_view result) const;

  const ControllerParts& parts_;
  StatusWriter& writer_;
  QuotaReporter& reporter_;
  const ClusterStatus* cluster_;
  RecountPlanner planner_;
  Asker asker_;
  Questions::Holds holds_;
};

}  // namespace controllers
