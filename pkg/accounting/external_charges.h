#pragma once

// External writers raise `used` of a quota and write no entries: the API server's own plugin, a
// person, a replica of an older version. ExternalCharges remembers what they added: the difference
// to the value of our last write. Each part is held for a while, and objects that appear without an
// entry use it up. No clock of its own, one thread.

#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "pkg/accounting/reservation_list.h"
#include "pkg/base/clock.h"

namespace accounting {

// More usage of an object that has no entry.
struct Growth {
  std::string resource;
  Uid uid;
  std::string version;  // of the object that has it
  ResourceList usage;
  bool is_new = false;  // the object was not counted before
};

// Returns the observed usage of objects, plus what entries allow them beyond it.
using Counted = std::function<ResourceList()>;

// In all functions, `used` is the quota's status.used, and `list` is its list; null: it has none.
// There is one for each quota, so what is seldom there are lists, which allocate nothing while they
// are empty.
class ExternalCharges {
 public:
  struct Part {
    base::TimePoint since;
    ResourceList usage;
    // The version of the quota that the external writer made; "" if it is not known exactly.
    std::string version = {};
  };
  using Parts = std::list<Part>;  // oldest first

  // Call with each status that the watch shows. Holds a rise beyond the `used` of our last write,
  // except for the part that is `counted` already, because the watch of objects may be ahead of the
  // watch of quotas. Calls `counted` only after a rise. If a later list shows that entries account
  // for those objects, the part is held then. `skipped`: the watch may have missed versions of the
  // quota, so also hold what their writers began to hold. `version`: of the quota; "" if the rise
  // may be older.
  void OnStatus(base::TimePoint now, const ResourceList& used, const ReservationList* list,
                bool skipped, const Counted& counted, const std::string& version = {});
  // For a quota without a list: our write, which began at `began`, set `used` to `written`, and the
  // quota that is known has `used`. Holds the rise between them, except for what was measured since
  // `began`: the watch may have shown a part of it during the write.
  void OnWritten(base::TimePoint now, base::TimePoint began, const ResourceList& written,
                 const ResourceList& used, const Counted& counted);
  // For a quota without a list: our write may have set `used` to this. It has no answer yet, or its
  // answer was lost.
  void OnUnanswered(const ResourceList& used);
  // Call when names may have been counted for the first time. If `used` is above the count, objects
  // exist that no watch has shown yet. The difference is held; with a list, at most what it shows
  // of external charges, or what was held under these names before if that is more: the rise may
  // have been shown before a list that records nothing of it.
  void OnFirstCount(base::TimePoint now, const ResourceList& used, const ReservationList* list,
                    const Counted& counted);
  // An object without an entry grew, so an external writer charged it: the oldest part is used up
  // first, but none that was written after this version of the object, because a charge is written
  // before its object is stored. Nothing is used up if the floor of the list covers the version:
  // another process that saw the object first may have dropped its entry.
  void OnAppeared(base::TimePoint now, Growth growth, const ReservationList* list);
  // Sets whether this process leads. A new leader holds what the writer of the list held, and what
  // lapsed here, except for the part that is `counted` already.
  void Lead(base::TimePoint now, bool leads, const ResourceList& used, const ReservationList* list,
            const Counted& counted);
  // The server was asked: drops from the parts each name of which all objects were shown that were
  // stored when `hold` was over. `shown_until`: of the objects that count under a name, those
  // stored before this time were shown. It is called only for parts older than `hold`; those that
  // remain become one. Returns the number of parts that lost a name.
  using ShownUntil = std::function<base::TimePoint(std::string_view name)>;
  std::size_t Expire(base::TimePoint now, base::Duration hold, const ShownUntil& shown_until);
  // The server was not asked: drops parts older than `hold`, and remembers them for Lead().
  void Lapse(base::TimePoint now, base::Duration hold);

  [[nodiscard]] ResourceList Held() const;
  // What a write of this process records as held. Only a leader that has taken over lowers it.
  // `leads`: this process leads now.
  [[nodiscard]] ResourceList ToRecord(const ResourceList& used, const ReservationList* list,
                                      bool leads) const;
  [[nodiscard]] const Parts& parts() const { return parts_; }
  [[nodiscard]] std::optional<base::TimePoint> Oldest() const;

 private:
  // What an object used up.
  struct UsedUp {
    base::TimePoint at;
    Growth by;
    Parts parts;
    bool in_burst = false;  // the list had an unassigned entry
  };

  void Hold(base::TimePoint now, ResourceList usage, std::string version = {});
  // Holds `usage`, at most what `used` has beyond observed, reserved and held usage.
  void HoldBeyond(base::TimePoint now, const ResourceList& usage, const ResourceList& used,
                  const Counted& counted, const std::string& version = {});
  // Drops what is not needed any more of the parts that were passed over.
  void DropPassedOver(base::TimePoint now);
  // Call with each new list. Holds what was passed over lately, at most what `used` has beyond
  // observed, reserved and held usage.
  void HoldPassedOver(base::TimePoint now, const ResourceList& used, const Counted& counted);
  // Holds again what objects used up that have an entry in the list: the watch of objects was ahead
  // of the watch of quotas. An object of a burst may have got no entry, because its writer has seen
  // it. Then the floor covers its version.
  void HoldUsedUp(base::TimePoint now, const ReservationList& list);
  // The sum of the rises after `since`, whatever became of them.
  [[nodiscard]] ResourceList MeasuredAfter(base::TimePoint since) const;
  // What `used` has beyond observed, reserved and held usage.
  [[nodiscard]] ResourceList Unexplained(const ResourceList& used, const Counted& counted) const;

  Parts parts_;
  // Not held lately, because objects seemed to account for it. The watch of objects may be ahead of
  // the watch of quotas, so a list that is shown later may have entries for these objects.
  Parts passed_over_;
  std::list<UsedUp> used_up_;              // lately, oldest first
  ResourceList lapsed_;                    // dropped without asking since the last Lead()
  std::optional<std::uint64_t> recorded_;  // ReservationList::writes, seen last; nullopt: no list
  ResourceList used_;                      // status.used, seen last
  ResourceList written_;                   // ReservationList::external, seen last
  std::set<std::string, std::less<>> counted_names_;
  bool leads_ = false;
};

}  // namespace accounting
