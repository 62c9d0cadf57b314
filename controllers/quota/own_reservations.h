#pragma once

// The reservations that this process made in one quota: the entry of each grant, the burst that it
// grants from without a write, and what it must take back. Decides only; no I/O, one thread.

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pkg/accounting/crowd.h"
#include "pkg/accounting/reserve.h"
#include "pkg/admission/quota_book.h"

namespace controllers {

// The identity that this process writes into its entries, and fields that all its entries share.
struct Author {
  std::string by;       // unique to this process
  std::uint64_t n = 0;  // the number of the last entry
  std::chrono::seconds webhook{0};

  // `ns`: the namespace of the objects, if the quota reaches several.
  [[nodiscard]] accounting::Reservation Entry(std::string of, std::string ns,
                                              quota::ResourceList usage) {
    return {.by = by,
            .n = ++n,
            .of = std::move(of),
            .ns = std::move(ns),
            .usage = std::move(usage),
            .webhook = webhook};
  }
};

class OwnReservations {
 public:
  // One grant, and the entry that covers it.
  struct Own {
    std::uint64_t n = 0;
    std::uint64_t grant = 0;
    std::string ns;  // of the object, if the quota reaches several namespaces
    std::string from;
    quota::ResourceList usage;
    base::TimePoint at;
    std::size_t relying = 1;  // number of requests that rely on this grant
  };
  // An unassigned entry, and the grants from it.
  struct Burst {
    std::uint64_t n = 0;
    std::string of;
    quota::ResourceList left;
    std::size_t creations = 0;        // number of creations that it was made for
    base::Duration covers{};          // the time in which they are expected
    base::Duration lasts{};           // nothing is granted later
    std::chrono::seconds webhook{0};  // Author::webhook when its entry was made
    base::TimePoint at;
    bool closed = false;  // nothing more is granted
    std::map<quota::Uid, Own> drawn;
  };
  // What becomes ours if a write succeeds.
  using Added = std::vector<std::pair<quota::Uid, Own>>;
  struct Reserved {
    Added added;
    std::optional<Burst> burst = {};
    std::optional<accounting::Crowd> crowd = {};  // with the creations of this write
  };
  // A grant without requests, whose entry covers no other grant.
  struct Withdrawal {
    quota::Uid uid;
    std::uint64_t grant = 0;
  };

  // `author` must outlive this.
  OwnReservations(Author& author, accounting::CrowdOptions crowd)
      : author_(&author), crowd_(crowd) {}

  // Returns a grant of ours for the same object and version. Its entry is so recent that it is held
  // as long as a new one would be. Null if there is none.
  [[nodiscard]] const Own* Find(base::TimePoint now, const accounting::ReservationList& list,
                                const quota::Uid& uid, std::string_view version) const;

  // True if the creation of the object was first granted longer than a hold ago. No request takes
  // that long, so further calls must not renew its reservation.
  [[nodiscard]] bool Outlasted(base::TimePoint now, const quota::Uid& uid) const;

  // Adds entries for the grants of a plan. Creations in one namespace with the same usage share an
  // entry.
  Added AddEntries(base::TimePoint now, const admission::ReservePlan& plan,
                   accounting::Standing& standing);
  // Gives the grants from bursts entries of their own, and releases the rest of the bursts. Nothing
  // more is granted from them: even a write that seems to fail may have ended them.
  void Assign(accounting::Standing& standing);
  // Adds an entry for expected creations, if many have arrived lately. Sets `burst` and `crowd`.
  void AddBurst(base::TimePoint now, const admission::ReservePlan& plan,
                accounting::Standing& standing, Reserved& reserved) const;
  // Call after the write of these entries succeeded.
  void Commit(base::TimePoint now, Reserved reserved);

  // What can still be granted from the burst; empty if nothing.
  [[nodiscard]] quota::ResourceList Usable(base::TimePoint now,
                                           const accounting::ReservationList& list) const;
  // True if the last burst granted the creation of the object.
  [[nodiscard]] bool HasDrawn(const quota::Uid& uid) const {
    return burst_ && burst_->drawn.contains(uid);
  }
  // Grants from the burst, or from an entry that the object already has. False if this is no longer
  // possible.
  bool Draw(base::TimePoint now, const accounting::ReservationList& list,
            const admission::ReservePlan& plan);

  // A request gives its grant up. True: MustTakeBack() is true from now on.
  bool Release(const quota::Uid& uid, std::uint64_t grant);
  // True if a write is due because a grant was given up or a burst has ended.
  [[nodiscard]] bool MustTakeBack(base::TimePoint now,
                                  const accounting::ReservationList& list) const;
  // Applies the withdrawals and ended bursts to `standing`. Forgets the withdrawals that its list
  // does not have. Returns the number of the others, which stay until TookBack().
  std::size_t TakeBack(accounting::Standing& standing);
  // Call after a write of that standing succeeded, with what TakeBack() returned.
  void TookBack(std::size_t withdrawals);
  // When MustTakeBack() becomes true because the burst ends.
  [[nodiscard]] std::optional<base::TimePoint> BurstEnds() const;
  // When the last grant was made.
  [[nodiscard]] std::optional<base::TimePoint> last_grant() const { return last_grant_; }

 private:
  void Remember(base::TimePoint now, const quota::Uid& uid, Own own);
  // True if the entry of this grant also answers repeated calls.
  [[nodiscard]] bool AnswersRepeats(base::TimePoint now, const Own& own) const;
  // Forgets the grants of the object that were made before this time.
  void Forget(base::TimePoint before, const quota::Uid& uid);
  bool DrawFromBurst(base::TimePoint now, const accounting::ReservationList& list,
                     const admission::ReservePlan& plan);

  Author* author_;
  std::map<quota::Uid, std::vector<Own>> own_;  // oldest first; never empty, and bounded
  // When each of them was added, oldest first. So a write costs what it adds and what ends, however
  // many grants are remembered.
  struct Remembered {
    base::TimePoint at;
    quota::Uid uid;
  };
  std::deque<Remembered> remembered_;
  std::vector<Withdrawal> withdrawals_;  // oldest first
  accounting::Crowd crowd_;
  std::optional<Burst> burst_;
  std::optional<base::TimePoint> last_grant_;
};

}  // namespace controllers
