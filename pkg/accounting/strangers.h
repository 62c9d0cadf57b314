#pragma once

// A stranger is a writer of `used` that writes no entries: the API server's own plugin, a person, a
// replica of an older version. Strangers remembers what such writers added to one quota's `used`:
// the difference to the value of our last write. Each part is held for a while, and objects that
// appear without an entry use it up. No clock of its own, one thread.

#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>

#include "pkg/accounting/reservation_list.h"
#include "pkg/base/clock.h"

namespace accounting {

class Strangers {
 public:
  // Returns the observed usage of objects, plus what entries allow them beyond it.
  using Counted = std::function<ResourceList()>;
  struct Part {
    base::TimePoint since;
    ResourceList usage;
    // The version of the quota that the stranger wrote; "" if it is not known exactly.
    std::string version = {};
  };
  using Parts = std::list<Part>;  // oldest first; allocates nothing while it is empty

  // Call with each status that the watch shows. `list` has the `used` of our last write; null: the
  // quota has no list. Holds a rise beyond that value, except for the part that is `counted`
  // already, because the watch of objects may be ahead of the watch of quotas. Calls `counted` only
  // after a rise. If a later list shows that entries account for those objects, the part is held
  // then. `skipped`: the watch may have missed versions of the quota, so also hold what their
  // writers began to hold. `version`: of the quota; "" if the rise may be older.
  void OnStatus(base::TimePoint now, const ResourceList& used, const ReservationList* list,
                bool skipped, const Counted& counted, const std::string& version = {});
  // For a quota without a list: our write set `used` to this.
  void OnWritten(const ResourceList& used) { used_ = used; }
  // For a quota without a list: our write may have set `used` to this. It has no answer yet, or its
  // answer was lost.
  void OnUnanswered(const ResourceList& used);
  // Call when this process becomes leader. Holds what the writer of the list held (`list` is null:
  // the quota has none), and what lapsed here, except for the part that is `counted` already.
  void TakeOver(base::TimePoint now, const ResourceList& used, const ReservationList* list,
                const Counted& counted);
  // Call when the names of `used` are counted for the first time. `usage` is the part that a
  // stranger may have added, as far as the quota shows. It is held, or what was held under these
  // names before if that is more: the rise may have been shown before a list that records nothing
  // for strangers. At most `most` is held, the part of `used` that nothing accounts for.
  void OnFirstCount(base::TimePoint now, const ResourceList& used, const ResourceList& usage,
                    const ResourceList& most);
  // Holds more usage for strangers.
  void Hold(base::TimePoint now, ResourceList usage, std::string version = {});
  // Call when an object without an entry grew by `usage`. The oldest part is used up first, but
  // none that a stranger wrote after this version of the object: a stranger writes before its
  // object is stored. Returns what was used up.
  Parts OnAppeared(const ResourceList& usage, std::string_view version = {});
  // Holds again what was used up by mistake.
  void HoldAgain(const Parts& parts);
  // The server was asked: drops from the parts each name of which all objects were shown that were
  // stored when `hold` was over. `shown_until`: of the objects that count under a name, those
  // stored before this time were shown. It is called only for parts older than `hold`; those that
  // remain become one. Returns the number of parts that lost a name.
  using ShownUntil = std::function<base::TimePoint(std::string_view name)>;
  std::size_t Expire(base::TimePoint now, base::Duration hold, const ShownUntil& shown_until);
  // The server was not asked: drops parts older than `hold`, and remembers them for TakeOver().
  void Lapse(base::TimePoint now, base::Duration hold);

  [[nodiscard]] ResourceList Held() const;
  [[nodiscard]] const Parts& parts() const { return parts_; }
  [[nodiscard]] std::optional<base::TimePoint> Oldest() const;

 private:
  // Holds `usage`, at most what `used` has beyond observed, reserved and held usage.
  void HoldBeyond(base::TimePoint now, const ResourceList& usage, const ResourceList& used,
                  const Counted& counted, const std::string& version = {});
  // Drops what is not needed any more of the parts that were passed over.
  void DropPassedOver(base::TimePoint now);
  // Call with each new list. Holds what was passed over lately, at most what `used` has beyond
  // observed, reserved and held usage.
  void HoldPassedOver(base::TimePoint now, const ResourceList& used, const Counted& counted);

  Parts parts_;
  // Not held lately, because objects seemed to account for it. The watch of objects may be ahead of
  // the watch of quotas, so a list that is shown later may have entries for these objects.
  Parts passed_over_;
  ResourceList lapsed_;                    // dropped without asking since the last TakeOver()
  std::optional<std::uint64_t> recorded_;  // ReservationList::writes, seen last; nullopt: no list
  ResourceList used_;                      // status.used, seen last
  ResourceList written_;                   // ReservationList::strangers, seen last
};

}  // namespace accounting
