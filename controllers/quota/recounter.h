#pragma once

// Keeps the status of one quota correct: counts the observed objects, adds reservations and the
// usage of strangers, compares, and writes at most once. It does not suspend between counting and
// deciding what to write.
//
// Single-threaded. All references must outlive it.

#include <optional>
#include <string_view>
#include <vector>

#include "controllers/quota/asker.h"
#include "controllers/quota/cluster_status.h"
#include "controllers/quota/complaints.h"
#include "controllers/quota/controller_options.h"
#include "controllers/quota/quota_reporter.h"
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
  // The objects that it works with.
  struct Rooms {
    const TrackingContext& context;
    const quota::QuotaApi& api;
    QuotaStore& store;
    Tracker& tracker;
    const ObservedUsage& usage;
    Accounts& accounts;
    StatusWriter& writer;
    QuotaReporter& reporter;
    Complaints& complaints;
    ControllerObserver& observer;
    const ClusterStatus* cluster = nullptr;  // null: the status has only hard and used
  };

  Recounter(Rooms rooms, const QuotaControllerOptions& options)
      : rooms_(rooms),
        planner_(*rooms.context.scheduler, rooms.tracker, rooms.cluster, options),
        asker_(rooms.context),
        options_(options),
        holds_{options.hold} {}

  base::Task<Outcome> Reconcile(api::ObjectKey key);
  // Sets how long reservations are held from now on.
  void SetHold(base::Duration hold) { holds_.entries = hold; }
  [[nodiscard]] base::Duration hold() const { return holds_.entries; }

 private:
  [[nodiscard]] base::TimePoint Now() const { return rooms_.context.scheduler->Now(); }
  QuotaCount Count(const quota::Quota& quota);
  // What is observed and reserved.
  [[nodiscard]] quota::ResourceList Counted(const quota::Quota& quota,
                                            const Account& account) const;
  [[nodiscard]] base::TimePoint EarliestWrite(const Account& account) const;
  // Account::paid_until after one more write.
  [[nodiscard]] base::TimePoint PaidUntil(const Account& account) const;
  base::Task<Outcome> Lead(quota::Quota quota, QuotaCount count, bool takes_back);
  base::Task<Outcome> WriteRecount(Recount recount, QuotaCount count);
  // Takes back grants of this process. Followers do this as well.
  base::Task<Outcome> WriteTakenBack(quota::Quota quota);
  // Stores a lost list as it was. Any process that knows it does this.
  base::Task<Outcome> StoreAgain(quota::Quota quota);
  // Writes a list without a recount. `withdrawals`: as in Recount.
  base::Task<Outcome> WriteList(quota::Quota quota, accounting::Standing standing,
                                std::vector<OwnReservations::Withdrawal> withdrawals);
  // Writes while admission does not write to this quota.
  base::Task<base::Result<quota::Quota>> Write(StatusWrite write);
  base::Task<Outcome> Ask(quota::Quota quota, Question question);
  void NoticeExpired(const quota::Quota& quota, const Account& account,
                     const Questions::Outcome& outcome);
  Outcome AfterFailedWrite(const api::ObjectKey& key, const base::Error& error);
  Outcome Follow(Account& account, const QuotaCount& count);
  // When to reconcile again if nothing happens.
  [[nodiscard]] base::TimePoint NextLook(const Account& account, const QuotaCount& count) const;
  // The same for what a follower does as well.
  [[nodiscard]] base::TimePoint NextOwn(const Account& account, const QuotaCount& count) const;
  [[nodiscard]] Outcome LookAt(base::TimePoint next, std::string_view result) const;

  Rooms rooms_;
  RecountPlanner planner_;
  Asker asker_;
  const QuotaControllerOptions& options_;
  Questions::Holds holds_;
};

}  // namespace controllers
