#pragma once

// What this process reserved of one quota: which grants rely on which entry, the burst that it
// grants from without a write, and what is to be taken back. Deciding only; no I/O, one thread.

#include <chrono>
#include <cstdint>
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

// Who writes entries, and what each is to say of that.
struct Author {
  std::string by;       // of all processes, of this one only
  std::uint64_t n = 0;  // the last that was used
  std::chrono::seconds webhook{0};

  // `ns`: of the objects, if the quota has several.
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
  // One grant, and the entry that it relies on.
  struct Own {
    std::uint64_t n = 0;
    std::uint64_t grant = 0;
    std::string ns;  // of the object, if the quota has several
    std::string from;
    quota::ResourceList usage;
    base::TimePoint at;
    std::size_t relying = 1;  // requests
  };
  // What a write will make its own, once it is made.
  using Added = std::vector<std::pair<quota::Uid, Own>>;
  // An unassigned entry, and what was granted from it.
  struct Burst {
    std::uint64_t n = 0;
    std::string of;
    quota::ResourceList left;
    std::size_t creations = 0;  // that it is meant for
    base::TimePoint at;
    bool closed = false;  // nothing more is granted
    std::map<quota::Uid, Own> drawn;
  };
  // A grant that nobody relies on any more.
  struct Withdrawal {
    std::uint64_t n = 0;
    std::uint64_t grant = 0;
    quota::Uid uid;
  };

  explicit OwnReservations(accounting::CrowdOptions crowd) : crowd_(crowd) {}

  // A grant of ours for the same object and version: young enough to be held as long as one that
  // would be written now. Null: there is none.
  [[nodiscard]] Own* Find(base::TimePoint now, const accounting::ReservationList& list,
                          const Author& author, const quota::Uid& uid, std::string_view version);

  // Entries for the grants of a plan: creations in one namespace that use the same share one.
  static Added AddEntries(base::TimePoint now, const admission::ReservePlan& plan, Author& author,
                          accounting::Standing& standing);
  // What was granted from bursts gets entries of its own; the rest is given back.
  void Assign(Author& author, accounting::Standing& standing, Added& added) const;
  // For creations that are to come, if a crowd is there.
  std::optional<Burst> NextBurst(base::TimePoint now, const admission::ReservePlan& plan,
                                 Author& author, accounting::Standing& standing);
  // The write was made.
  void Keep(base::TimePoint now, Added added);
  void Keep(base::TimePoint now, std::optional<Burst> burst);

  // What can be granted from the burst; empty: nothing.
  [[nodiscard]] quota::ResourceList Usable(base::TimePoint now, const Author& author,
                                           const accounting::ReservationList& list) const;
  // False: the plan does not fit it. `list` is as for Usable().
  bool Draw(base::TimePoint now, const Author& author, const accounting::ReservationList& list,
            const admission::ReservePlan& plan);
  // Whatever comes of a write, it may have been made: nothing more is granted from the burst.
  void Close();

  // A request that relied on the grant does not any more. True: it is to be taken back.
  bool Release(const quota::Uid& uid, std::uint64_t grant);
  // What nobody is granted, or what was granted from a burst, is yet to be written.
  [[nodiscard]] bool MustTakeBack(base::TimePoint now, const Author& author,
                                  const accounting::ReservationList& list) const;
  // Takes it out of what is to be written. The answer goes to Again() if it is not.
  std::vector<Withdrawal> TakeBack(Author& author, accounting::Standing& standing);
  void Again(std::vector<Withdrawal> withdrawals);
  // When MustTakeBack() may become true.
  [[nodiscard]] std::optional<base::TimePoint> BurstEnds() const;
  // When anything was granted last.
  [[nodiscard]] std::optional<base::TimePoint> last_grant() const { return last_grant_; }

 private:
  static Own OwnOf(base::TimePoint now, const admission::ReservePlan& plan,
                   const admission::Grant& grant);

  std::map<quota::Uid, std::vector<Own>> own_;  // oldest first
  std::vector<Withdrawal> withdrawals_;
  accounting::Crowd crowd_;
  std::optional<Burst> burst_;
  std::optional<base::TimePoint> last_grant_;
};

}  // namespace controllers
