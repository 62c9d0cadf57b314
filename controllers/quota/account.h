#pragma once

// What this process remembers of quotas beside the objects: their reservations as it reads them,
// who of others added usage, what of it is its own. No I/O, one thread.

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "controllers/quota/own_reservations.h"
#include "controllers/quota/questions.h"
#include "pkg/accounting/first_seen.h"
#include "pkg/accounting/settle.h"
#include "pkg/accounting/strangers.h"
#include "pkg/base/gate.h"

namespace controllers {

// A write under way.
struct InFlight {
  quota::QuotaStatus status;
  std::string text = {};  // of its list; "": it writes none
  accounting::ReservationList list = {};
};

struct Account {
  Account(base::Scheduler& scheduler, const accounting::CrowdOptions& crowd)
      : gate(std::make_shared<base::Gate>(scheduler)), own(crowd) {}

  // The quota as it is now. `counted`: what is observed and reserved of it. `skipped`: versions of
  // it may not have been shown.
  void OnQuota(base::TimePoint now, const quota::Quota* before, const quota::Quota& quota,
               bool skipped, const accounting::Strangers::Counted& counted);
  // Our write made `written`, and what followed it is known already: between what was known before
  // the write and that, what others added cannot be seen. We lowered `used`, and they added as
  // much.
  void OnOvertaken(base::TimePoint now, const quota::Quota& written, const quota::Quota& known,
                   const accounting::Strangers::Counted& counted);
  // An object that no entry names has grown by so much.
  void OnAppeared(const quota::ResourceList& growth, bool is_new);
  // What the quota has above the first count of a name is of objects that are yet to come: all of
  // it, or what the list says that strangers added. `counted`: what is observed and reserved.
  void Meet(base::TimePoint now, const quota::Quota& quota,
            const accounting::Strangers::Counted& counted);
  // What appeared without an entry may have been granted from what is unassigned, which only its
  // writer knows: it will say so soon, and until then `used` need not be raised for it.
  [[nodiscard]] bool IsPlausible(const quota::ResourceList& used,
                                 const quota::ResourceList& desired) const;
  // The list as it stands; without one, an empty one.
  [[nodiscard]] const accounting::ReservationList& known() const;
  // The quota to decide by.
  [[nodiscard]] const quota::Quota& Decisive(const quota::Quota& quota) const {
    return decisive ? *decisive : quota;
  }
  // A ClusterQuota as above, but its `used` is no less than what was `seen` of it.
  [[nodiscard]] const quota::Quota& AtLeastSeen(const quota::Quota& quota);
  // What of `used` whoever writes now says is strangers'. Only who keeps `used` lets go of it.
  [[nodiscard]] quota::ResourceList StrangersOf(const quota::Quota& quota, bool leads) const;
  // Who leads from now on takes over what the last writer held.
  void Lead(base::TimePoint now, bool leads, const quota::Quota& quota,
            const accounting::Strangers::Counted& counted);

  std::string uid;
  std::shared_ptr<base::Gate> gate;                 // whoever writes the status is inside
  bool postponed = false;                           // a recount waits for the gate
  std::optional<accounting::ReservationList> list;  // as the store has the quota
  std::string malformed;                            // why its text is not believed
  std::optional<quota::Quota> decisive;             // unless it is as the store has it
  // Of a ClusterQuota: what this process had seen, and what was reserved, when it looked last. A
  // namespace that came by its labels is in it before it is in `used`.
  quota::ResourceList seen;
  accounting::FirstSeen first_seen;
  accounting::Strangers strangers;
  OwnReservations own;
  Questions questions;
  quota::ResourceList appeared;               // without an entry, while something is unassigned
  std::optional<base::TimePoint> over_since;  // entries are over, and not taken out yet
  base::TimePoint not_before{};               // no recount is written earlier than this
  base::TimePoint paid_until{};               // each recount that is written moves it on
  base::TimePoint further_due{};              // what can wait of a status does so until then
  base::TimePoint children_told{};            // that this status changed
  std::string written_version;                // of our last write
  std::optional<InFlight> in_flight;

 private:
  void TakeList(const std::string& text);

  std::optional<quota::Quota> at_least_seen_;
  std::set<std::string> met_;  // names that were counted once
  bool leads_ = false;
};

// One for each quota.
class Accounts {
 public:
  Accounts(base::Scheduler& scheduler, std::string by, accounting::CrowdOptions crowd)
      : author{.by = std::move(by)}, scheduler_(scheduler), crowd_(crowd) {}

  Account& Of(const quota::Quota& quota);
  // Null: the quota is gone, or another one of the same name.
  [[nodiscard]] Account* Find(const quota::Quota& quota);
  [[nodiscard]] Account* Find(const api::ObjectKey& key);
  void Forget(const api::ObjectKey& key) { accounts_.erase(key); }

  // Counts what is reserved, some of it in each call. True: call again.
  struct Tally {
    std::size_t reservations = 0;  // objects, and entries without any
    std::optional<base::TimePoint> oldest;
    // What the quotas with the most reservations reserve, by their number: kMostLargest at most.
    std::multimap<std::size_t, std::pair<api::ObjectKey, quota::ResourceList>> largest;
    api::ObjectKey place;  // the quotas up to this one are counted
  };
  static constexpr std::size_t kMostLargest = 10;
  bool Count(Tally& tally) const;

  Author author;

 private:
  base::Scheduler& scheduler_;
  accounting::CrowdOptions crowd_;
  std::map<api::ObjectKey, Account> accounts_;
};

}  // namespace controllers
