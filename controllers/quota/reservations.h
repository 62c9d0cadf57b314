#pragma once

// The quotas of one quota API as admission's book: what is reserved, by one guarded write of each
// quota (pkg/accounting/DESIGN.md). Any replica does this; it needs no view of the objects.
//
// Single-threaded. What it refers to outlives it.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "controllers/quota/reach.h"
#include "controllers/quota/status_writer.h"
#include "pkg/admission/quota_book.h"

namespace controllers {

class Reservations final : public admission::QuotaBook {
 public:
  struct Hooks {
    // The quota is to be looked at again, after this time.
    std::function<void(const api::ObjectKey& key, base::Duration after)> look;
    // That is about to be reserved for creations to come.
    std::function<void(const quota::Quota& quota, const quota::ResourceList& usage)> on_burst;
    std::function<bool()> leads;
  };
  Reservations(base::Scheduler& scheduler, QuotaStore& store, const Reach& reach,
               const Tracker& tracker, const ObservedUsage& usage, StatusWriter& writer,
               Accounts& accounts, Hooks hooks)
      : scheduler_(scheduler),
        store_(store),
        reach_(reach),
        tracker_(tracker),
        usage_(usage),
        writer_(writer),
        accounts_(accounts),
        hooks_(std::move(hooks)) {}

  base::Task<base::Result<void>> Refresh(std::string ns, base::TimePoint deadline) override;
  [[nodiscard]] std::vector<admission::BookedQuota> Quotas(std::string_view ns) const override;
  [[nodiscard]] std::vector<quota::TreePlace> PlacesOf(
      const std::vector<admission::BookedQuota>& quotas) const override;
  [[nodiscard]] std::string WriterOf(std::string_view ns) override;
  [[nodiscard]] bool MayLimit(std::string_view ns) const override;
  [[nodiscard]] const quota::ResourceList* Reserved(const quota::Quota& quota,
                                                    const quota::Uid& uid,
                                                    std::string_view version) const override;
  std::uint64_t Rely(const quota::Quota& quota, const quota::Uid& uid,
                     std::string_view version) override;
  [[nodiscard]] bool Draw(const admission::ReservePlan& plan) override;
  base::Task<base::Result<void>> Reserve(admission::ReservePlan plan,
                                         base::TimePoint deadline) override;
  void Withdraw(const api::ObjectKey& key, const quota::Uid& uid, std::uint64_t grant) override;

 private:
  // What a write is to make.
  struct Planned {
    StatusWrite write;
    OwnReservations::Added added;
    bool assigns = false;  // bursts: what was granted from the last one, and the next
    std::optional<OwnReservations::Burst> burst;
  };
  // A namespace that was read live.
  struct Learnt {
    base::TimePoint at;
    json::Value labels;  // null: it has none
  };
  base::Task<base::Result<void>> Learn(std::string ns, base::TimePoint deadline);
  // A namespace that is being relabelled has the quotas of before and after.
  [[nodiscard]] quota::QuotaTree::Reach Reaching(std::string_view ns) const;
  void Book(const quota::Quota& quota, admission::BookedQuota& booked) const;
  [[nodiscard]] OwnReservations::Own* FindOwn(const quota::Quota& quota, const quota::Uid& uid,
                                              std::string_view version) const;
  base::Task<base::Result<void>> ReserveInside(admission::ReservePlan plan,
                                               base::TimePoint deadline);
  [[nodiscard]] Planned Plan(const admission::ReservePlan& plan, const quota::Quota& quota);

  base::Scheduler& scheduler_;
  QuotaStore& store_;
  const Reach& reach_;
  const Tracker& tracker_;
  const ObservedUsage& usage_;
  StatusWriter& writer_;
  Accounts& accounts_;
  Hooks hooks_;
  std::map<std::string, Learnt, std::less<>> learnt_;  // that the watch has not shown
};

}  // namespace controllers
