#pragma once

// What strangers (the API server's own plugin, a person, a replica of an older version) added to
// one quota's `used`, for objects that no entry names. It is what `used` differs by from what our
// last write made of it. Held for a while, used up by objects that appear without an entry. No
// clock of its own, one thread.

#include <deque>
#include <functional>
#include <optional>

#include "pkg/accounting/reservation_list.h"
#include "pkg/base/clock.h"

namespace accounting {

class Strangers {
 public:
  // What is observed of objects, and what entries let them use beyond that.
  using Counted = std::function<ResourceList()>;

  // The status as it stands now. `list` says what our last write made of it (null: it is not known
  // what we wrote). What `used` rose by beyond that is held, unless it is `counted` already: the
  // watch of an object may be ahead of the quota's. `counted` is called only if there was a rise.
  // `skipped`: versions of the quota may not have been shown, so what its writers have begun to
  // hold is held.
  void OnStatus(base::TimePoint now, const ResourceList& used, const ReservationList* list,
                bool skipped, const Counted& counted);
  // Without a list: it is not known whether our write made this of it.
  void OnUnanswered(const ResourceList& used);
  // This process begins to keep `used`: what the list's writer held is held.
  void TakeOver(base::TimePoint now, const ResourceList& used, const ReservationList& list,
                const Counted& counted);
  // These names of `used` are counted for the first time, and `usage` of them is what nothing
  // accounts for. What was held of them before they could be counted is forgotten.
  void OnFirstCount(base::TimePoint now, const ResourceList& used, const ResourceList& usage);
  // So much more is a stranger's.
  void Hold(base::TimePoint now, ResourceList usage);
  // An object without an entry grew by this: the oldest is used up first.
  void OnAppeared(const ResourceList& usage);
  // Drops what is older than `hold`, and says how many parts that were.
  std::size_t Expire(base::TimePoint now, base::Duration hold);

  [[nodiscard]] ResourceList Held() const;
  [[nodiscard]] std::optional<base::TimePoint> Oldest() const;

 private:
  // Holds of `usage` what `used` has beyond all that is accounted for.
  void HoldBeyond(base::TimePoint now, const ResourceList& usage, const ResourceList& used,
                  const Counted& counted);

  struct Part {
    base::TimePoint since;
    ResourceList usage;
  };
  std::deque<Part> parts_;                 // oldest first
  std::optional<std::uint64_t> recorded_;  // writes of the list
  ResourceList used_;                      // seen last
  ResourceList written_;                   // the list's strangers, seen last
};

}  // namespace accounting
