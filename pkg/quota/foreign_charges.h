#pragma once

// Usage that somebody else charged to a quota (the API server's own admission plugin, another
// replica) for objects our watch has not shown yet. Held so that a recount does not lower `used`
// because of what is not yet seen; used up by the objects that appear; gone after `hold`, so that a
// charge whose object was never stored heals by itself.
//
// While a watch is behind, the objects of charges that expire meanwhile are yet to come, and must
// not use up younger charges: what is overdue is remembered until the watch has caught up.
//
// One per quota. No I/O, one thread.

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pkg/base/clock.h"
#include "pkg/quota/resource_list.h"

namespace quota {

class ForeignCharges {
 public:
  explicit ForeignCharges(base::Duration hold) : hold_(hold) {}
  // Of those that are held, too.
  void SetHold(base::Duration hold);

  // Somebody else wrote the status: `used` went from `before` to `after`, while what we have
  // counted ourselves is `counted`. Of each name the increase is held, but for what `before` lacked
  // of our count and of what is held already: that much of it may be for what we know.
  //
  // Unless our count is behind: who lowers `used` below it has seen deletions that we have not, and
  // what `before` lacks for that reason is no excuse. See OnShrunk().
  // What of an increase may be for charges that are held already, may as well be for new ones,
  // after others had let go of those. As much of them is held as long as a new one, and no more for
  // it.
  //
  // `held_then` is what was held when the write was seen, where it is noticed later (null: now).
  void OnForeignWrite(base::TimePoint now, const ResourceList& before, const ResourceList& after,
                      const ResourceList& counted, const ResourceList* held_then = nullptr);
  // An object with this usage appeared, or grew by it: what is overdue is used up first, then the
  // oldest charges.
  void OnAppeared(const ResourceList& usage);
  // A charge expired, with so much of it unseen: one of our own. Those of others say so themselves.
  void OnExpired(const ResourceList& unseen);
  // Forgets what is overdue, but for the names of which the watch is `behind`.
  void KeepOverdue(const std::vector<std::string>& behind);
  // An object with this usage went, or shrank by it: a deletion that others have seen before us.
  void OnShrunk(const ResourceList& usage);
  // What is held at `now`; expired charges are dropped.
  [[nodiscard]] ResourceList Held(base::TimePoint now);
  // How many charges expired since the last call: no object ever used them up.
  std::size_t TakeExpired() { return std::exchange(expired_, 0); }
  // True if TakeExpired() has some to say: they are held no more, and a recount is to notice it.
  [[nodiscard]] bool AnyExpired() const { return expired_ > 0; }
  // When the next charge expires; nullopt without one.
  [[nodiscard]] std::optional<base::TimePoint> NextExpiry() const;

 private:
  struct Charge {
    base::TimePoint expires;
    ResourceList amount;  // positive amounts only
  };
  void DropExpired(base::TimePoint now);
  void Hold(base::TimePoint now, ResourceList amounts);
  void UseUpOldest(const ResourceList& amounts);
  void Renew(base::TimePoint now, const ResourceList& amounts);
  [[nodiscard]] Quantity HeldOf(std::string_view name) const;

  base::Duration hold_;
  // Oldest first. Bounded: what would expire within 100 ms of the newest is merged into it, so at
  // most hold / 100 ms + 1 stand here.
  std::deque<Charge> charges_;
  std::size_t expired_ = 0;
  ResourceList overdue_;  // of charges that expired, of anybody: their objects may appear yet
  // By how much others have lowered `used` below our count, until we have seen it, or the hold.
  ResourceList behind_;
  base::TimePoint behind_until_{};
};

}  // namespace quota
