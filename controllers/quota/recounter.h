#pragma once

// Keeps one quota's status true: observe, add what is reserved and what strangers added, compare,
// and write at most once. There is no suspension between observing and deciding what to write.
//
// Single-threaded. What it refers to outlives it.

#include <functional>
#include <string_view>
#include <vector>

#include "controllers/quota/asker.h"
#include "controllers/quota/cluster_status.h"
#include "controllers/quota/complaints.h"
#include "controllers/quota/controller_options.h"
#include "controllers/quota/quota_reporter.h"
#include "controllers/quota/status_writer.h"

namespace controllers {

class Recounter {
 public:
  struct Outcome {
    enum class Kind { kDone, kRevisit, kRetry } kind = Kind::kDone;
    base::Duration after{};                 // kRevisit
    std::string_view result = "unchanged";  // for the observer
  };
  // What it works with.
  struct Rooms {
    const TrackingContext& context;
    const quota::QuotaApi& api;
    QuotaStore& store;
    const Tracker& tracker;
    const ObservedUsage& usage;
    Accounts& accounts;
    StatusWriter& writer;
    QuotaReporter& reporter;
    Complaints& complaints;
    ControllerObserver& observer;
    const ClusterStatus* cluster = nullptr;  // null: status says no more than hard and used
  };

  Recounter(Rooms rooms, const QuotaControllerOptions& options)
      : rooms_(rooms), asker_(rooms.context), options_(options), holds_{options.hold} {}

  base::Task<Outcome> Reconcile(api::ObjectKey key);
  // How long reservations are held from now on.
  void SetHold(base::Duration hold) { holds_.entries = hold; }
  [[nodiscard]] base::Duration hold() const { return holds_.entries; }

 private:
  // A recount that may be written.
  struct Recount {
    StatusWrite write;
    std::vector<OwnReservations::Withdrawal> withdrawals;
    bool differs = false;  // in value, from what is stored, or from its record
    bool over = false;     // something is to be taken out
    bool waits = false;    // what differs can wait, and does
  };

  [[nodiscard]] bool Leading() const { return !options_.leading || options_.leading(); }
  [[nodiscard]] base::TimePoint Now() const { return rooms_.context.scheduler->Now(); }
  QuotaCount Count(const quota::Quota& quota);
  [[nodiscard]] quota::Quota Guarded(const quota::Quota& quota) const;
  base::Result<Recount> Decide(const quota::Quota& quota, const QuotaCount& count,
                               const QuotaView& view, bool takes_back);
  void AddFurther(const quota::Quota& quota, const QuotaCount& count, Recount& recount);
  [[nodiscard]] base::TimePoint EarliestWrite(const Account& account) const;
  base::Task<Outcome> Lead(quota::Quota quota, QuotaCount count, bool takes_back);
  base::Task<Outcome> WriteRecount(Recount recount, QuotaCount count);
  void NoticeOvertaken(const quota::Quota& written);
  // What this process granted and takes back, whoever leads.
  base::Task<Outcome> WriteTakenBack(quota::Quota quota);
  base::Task<Outcome> Ask(quota::Quota quota, Question question);
  void NoticeExpired(const quota::Quota& quota, const Questions::Outcome& outcome);
  base::Task<Outcome> AfterFailedWrite(quota::Quota quota, base::Error error);
  [[nodiscard]] Outcome Follow(const quota::Quota& quota, const QuotaCount& count);
  // When to look again if nothing happens.
  [[nodiscard]] Outcome Until(const Account& account, const QuotaCount& count,
                              std::string_view result) const;
  [[nodiscard]] std::optional<base::TimePoint> NextOwn(const Account& account,
                                                       const QuotaCount& count) const;

  Rooms rooms_;
  Asker asker_;
  const QuotaControllerOptions& options_;
  Questions::Holds holds_;
};

}  // namespace controllers
