#pragma once

// What this process remembers of each quota in addition to its object: the parsed list of
// reservations, external charges, and its own reservations. No I/O, one thread.

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "controllers/quota/known_list.h"
#include "controllers/quota/pending_write.h"
#include "controllers/quota/questions.h"
#include "pkg/accounting/external_charges.h"
#include "pkg/accounting/first_seen.h"
#include "pkg/accounting/settle.h"
#include "pkg/accounting/write_pace.h"
#include "pkg/accounting/write_turn.h"
#include "pkg/base/gate.h"

namespace controllers {

// When the status may be written again.
struct StatusWrites {
  bool postponed = false;                     // a recount waits for the gate
  bool conflict_unread = false;               // the quota was not read after the last conflict
  std::optional<base::TimePoint> over_since;  // some entries have ended and are still in the list
  base::TimePoint not_before{};               // no recount is written before this time
  base::TimePoint paid_until{};  // each written recount advances it (limits the rate of writes)
  accounting::WritePace pace;    // limits the bytes of our writes
  accounting::WriteTurn turn;    // shares the writes with other processes
};

// What is remembered of a ClusterQuota only.
struct ClusterMemory {
  // The usage that was observed and reserved at the last look. If a namespace joins by its labels,
  // its usage is in here before it is in `used`.
  quota::ResourceList seen;
  std::optional<base::TimePoint> missing_since;  // a part of its guarantee is missing
  base::TimePoint further_due{};                 // deferrable fields of the status wait until then
  base::TimePoint children_told{};               // children are not enqueued again before this time
};

// There is one for each quota, so what is seldom there takes no room: pointers, and lists, which
// allocate nothing while they are empty.
struct Account {
  // `author` must outlive it.
  Account(base::Scheduler& scheduler, Author& author, const accounting::CrowdOptions& crowd)
      : gate(std::make_shared<base::Gate>(scheduler)),
        list(author),
        own(author, crowd),
        author_(&author) {}

  // The quota has changed. `counted` returns what is observed and reserved. `skipped`: some
  // versions of the quota may not have been shown. Returns true for the answer of our own write.
  bool OnQuota(base::TimePoint now, const quota::Quota* before, const quota::Quota& quota,
               bool skipped, const accounting::Counted& counted);

  // Drafts the reservations of a plan for `quota`, which has the version of the plan. `lags`: a
  // watch is known to lag, so `used` is not lowered. `leads`: this process leads.
  [[nodiscard]] Draft Reserve(base::TimePoint now, const admission::ReservePlan& plan,
                              const quota::Quota& quota, const QuotaView& view, bool lags,
                              bool leads);
  // Drafts the list that is known. `takes_back`: without what this process must take back.
  [[nodiscard]] Draft StoreAgain(const quota::Quota& quota, bool takes_back, bool leads);
  // Begins the write of a draft that was made of the present state. REQUIRES: the caller is inside
  // the gate, until the write has ended.
  [[nodiscard]] PendingWrite Begin(base::TimePoint now, Draft draft);
  // False if another account of the quota began it, which is gone.
  [[nodiscard]] bool Began(const PendingWrite& write) const {
    return pending_ != nullptr && write.draft_.get() == pending_;
  }
  // The write was made. `written`: its result. `known`: the quota that the store has now. If that
  // is a later version, and has no list, the difference shows what was charged since: our write may
  // have lowered `used` by as much. REQUIRES: Began().
  void Commit(base::TimePoint now, PendingWrite write, const quota::Quota& written,
              const quota::Quota& known, const accounting::Counted& counted);
  // The write was not made, or nobody knows. REQUIRES: Began().
  void Abort(base::TimePoint now, PendingWrite write, PendingWrite::Outcome outcome,
             const quota::Quota& known, const accounting::Counted& counted);

  // An object without an entry has grown.
  void OnAppeared(base::TimePoint now, accounting::Growth growth);
  // True if OnAppeared() would change anything.
  [[nodiscard]] bool AwaitsGrowth() const { return external.Oldest() || known().HasUnassigned(); }
  // True if `used` may stay as it is, below `desired`. Objects that appeared without an entry may
  // have been granted from an unassigned entry. Its writer soon gives them entries of their own.
  [[nodiscard]] bool IsPlausible(const quota::ResourceList& used,
                                 const quota::ResourceList& desired) const;
  // The list; empty if there is none.
  [[nodiscard]] const accounting::ReservationList& known() const { return list.known(); }
  // The same; null if there is none.
  [[nodiscard]] const accounting::ReservationList* listed() const { return list.Find(); }
  // The quota whose `used` decisions rely on.
  [[nodiscard]] const quota::Quota& Decisive(const quota::Quota& quota) const {
    return decisive ? *decisive : quota;
  }
  // The quota, but with a `used` that is at least `seen`, and with the limits that a write in
  // flight adds: the server may show them to others before its answer arrives. What they admit
  // waits for that answer, because the writer holds the gate, and is decided again.
  [[nodiscard]] const quota::Quota& AtLeastSeen(const quota::Quota& quota);

  // As KnownList::later_until().
  [[nodiscard]] bool DefersToLater(base::TimePoint now) const {
    return now < list.later_until().value_or(now);
  }

  std::string uid;
  std::shared_ptr<base::Gate> gate;  // the writer of the status holds it
  KnownList list;
  std::unique_ptr<quota::Quota> decisive;  // null: as the quota in the store
  accounting::FirstSeen first_seen;
  accounting::ExternalCharges external;
  OwnReservations own;
  Questions questions;
  quota::ResourceList appeared;  // usage without an entry, while an unassigned entry exists
  StatusWrites writes;
  ClusterMemory cluster;

 private:
  Draft End(PendingWrite write);
  Author* author_;
  const Draft* pending_ = nullptr;               // of the write that has no outcome yet
  std::unique_ptr<quota::Quota> at_least_seen_;  // what AtLeastSeen() returned, if that differs
};

// One for each quota of the store, as long as the store has the quota.
class Accounts {
 public:
  Accounts(base::Scheduler& scheduler, std::string by, accounting::CrowdOptions crowd,
           base::Duration held)
      : author{.by = std::move(by)}, hold(held), scheduler_(scheduler), crowd_(crowd) {}

  Account& Of(const quota::Quota& quota);
  // Null if the quota is gone, or was replaced by another one of the same name.
  [[nodiscard]] Account* Find(const quota::Quota& quota);
  [[nodiscard]] const Account* Find(const api::ObjectKey& key) const;
  void Forget(const api::ObjectKey& key) { accounts_.erase(key); }

  // Counts the reservations, a few quotas in each call. True: call again.
  struct Tally {
    std::size_t reservations = 0;  // objects, and entries without an object
    std::size_t later = 0;         // quotas whose list was written in a later format
    std::optional<base::TimePoint> oldest;
    // The reserved amounts of the quotas with the most reservations, by their number. At most
    // kMostLargest.
    std::multimap<std::size_t, std::pair<api::ObjectKey, quota::ResourceList>> largest;
    api::ObjectKey place;  // the quotas up to this key are counted
  };
  static constexpr std::size_t kMostLargest = 10;
  bool Count(Tally& tally) const;

  Author author;
  base::Duration hold;  // how long reservations are held before the server is asked

 private:
  base::Scheduler& scheduler_;
  accounting::CrowdOptions crowd_;
  std::map<api::ObjectKey, Account> accounts_;
};

}  // namespace controllers
