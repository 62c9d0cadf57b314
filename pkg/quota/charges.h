#pragma once

// Usage that our own admission granted to objects that the watch has not shown yet, for one quota.
// A charge belongs to the object (its uid), not to the call, and is absolute: what the object may
// use in all. So an API server that asks ten times for one stored write is charged once, and a
// charge whose object was never stored is gone after `hold`; at most twice that after the first
// call, however often it is asked for, unless the watch has shown the object.
//
// No I/O, one thread.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pkg/base/clock.h"
#include "pkg/quota/resource_list.h"
#include "pkg/quota/uid.h"

namespace quota {

// How long a charge is held, where the API server may wait for another validating webhook before it
// stores what was admitted: a charge may be as old as Charges::kCovers when it answers a call,
// whose answer takes up to 5 s, side by side with the other webhook's; then the object is to be
// stored and seen. Clocks may differ by a tenth.
inline base::Duration HoldFor(base::Duration other_webhook) {
  const base::Duration alone = std::chrono::seconds(9);
  return std::max(alone, std::chrono::seconds(7) + other_webhook + other_webhook / 10);
}

// What one object was granted.
struct Charge {
  ResourceList amount;  // what it may use, in all
  // What `used` has for it above `base`, what it used as stored. A call may be decided against an
  // older version of the object that used more than the one which is stored then: so no more than
  // this is paid for above that. Growth beyond `base` that was stored has used it up.
  ResourceList added;
  ResourceList base = {};
};

// Charges that no object reached in time.
struct ExpiredCharges {
  std::size_t charges = 0;
  ResourceList unseen;  // what they left outstanding
};

// What the charge pays for where the object, as stored, uses `stored`: names of the charge only.
ResourceList PaidFor(const Charge& charge, const ResourceList& stored);
// What `more` added comes on top of what is left of the charge where the object, as stored, uses
// `more.base`. The amount is left as it is.
void Extend(Charge& charge, const Charge& more);

class Charges {
 public:
  // A charge covers repeated calls for so long.
  static constexpr std::chrono::seconds kCovers{2};

  explicit Charges(base::Duration hold) : hold_(hold) {}
  // Of those that are held, too.
  void SetHold(base::Duration hold) { hold_ = hold; }

  // The object is granted `more`: of an amount the larger counts, but never more than what `used`
  // has for it: what counted for it before, and what was added. `seen` is what the watch has shown
  // of it so far, under the same names (null: it has not shown the object). The hold starts anew.
  // `version` is that of the stored object that the growth is reckoned from; "": there is none.
  // `number` is the grant's own, for Release(); 0: it is never released.
  void Grant(base::TimePoint now, const Uid& uid, const Charge& more, const ResourceList* seen,
             std::string_view version, std::uint64_t number = 0);
  // What covers a repeated call for the object; null if it has no charge, or a part of it is older
  // than kCovers: the rest is left for the write to be stored and seen before others, who
  // hold each part for itself, take it back. What is granted then begins anew. Once somebody else
  // has lowered `used`, a charge covers only calls about the version that it was granted for: of
  // another one the growth may have been stored, and be taken back already.
  [[nodiscard]] const Charge* Covering(base::TimePoint now, const Uid& uid,
                                       std::string_view version) const;
  // A call about this version relies on what covers it from now on: older versions of the object,
  // which the watch may be yet to show, do not use the charge up any more. The answer is the number
  // of the grant, for Release(); 0: there is nothing to release.
  std::uint64_t Cover(base::TimePoint now, const Uid& uid, std::string_view version);
  void OnLoweredByOthers() { ++lowerings_; }
  // The latest version that a call of the object was about; "": none of a stored object.
  [[nodiscard]] std::string_view AskedAbout(const Uid& uid) const;
  // The watch shows that the object, which used `before`, uses `usage` now (null: none that this
  // quota counts). A charge that is reached is dropped, once the watch is `past` the version that
  // was asked about last: until then the write that was granted is still to come. The answer is the
  // growth that no charge of ours granted: usage that came by somebody else's leave.
  ResourceList OnSeen(const Uid& uid, const ResourceList& before, const ResourceList* usage,
                      bool past = true);
  // A call that relied on this grant, its own or by Cover(), needs it no more, because another
  // quota refused it or nobody waits for it. When nobody relies on the grant, the charge is what it
  // was before. But not if more was granted since: then it stays until it expires.
  void Release(const Uid& uid, std::uint64_t number);
  void OnGone(const Uid& uid);
  // Drops what expired, and says how much.
  ExpiredCharges Expire(base::TimePoint now);

  // Those that are charged.
  [[nodiscard]] std::vector<Uid> Objects() const;
  // Over all charges, what is granted above what is seen.
  [[nodiscard]] ResourceList Outstanding() const;
  [[nodiscard]] std::optional<base::TimePoint> NextExpiry() const;
  [[nodiscard]] std::size_t size() const { return charges_.size(); }

 private:
  // What a grant changes, and its release puts back.
  struct Terms {
    Charge charge;
    base::TimePoint since;        // of the oldest part of what was added
    std::string version;          // the last grant's
    std::uint64_t lowerings = 0;  // by others, before the last grant
  };
  struct Held : Terms {
    ResourceList seen;
    base::TimePoint first;          // grant
    base::TimePoint granted;        // the last that the hold is counted from
    std::string asked;              // see AskedAbout()
    bool shown = false;             // the object, by the watch
    bool reached = false;           // by a version that the watch has shown
    std::uint64_t last = 0;         // the last grant's number; 0: it is not to be released
    std::size_t relying = 0;        // calls that rely on the last grant
    std::unique_ptr<Terms> before;  // the last grant; null: there was no charge
  };
  static void NoteAsked(Held& held, std::string_view version);
  using ChargesByUid = std::unordered_map<Uid, Held, UidHash>;
  [[nodiscard]] bool IsStale(const std::pair<base::TimePoint, Uid>& place) const;
  // Takes what the charge leaves outstanding out of the total (-1), or puts it in (+1): around
  // every change of a charge.
  void Count(const Held& held, int sign);
  void Drop(ChargesByUid::iterator charge);

  base::Duration hold_;
  ChargesByUid charges_;
  // Kept, because summing ten thousands of charges anew at each look would stop all else.
  ResourceList total_;
  bool total_is_exact_ = true;  // false: a sum did not fit, until no charge is left
  std::uint64_t lowerings_ = 0;
  // In the order of granting; an entry whose charge is gone or younger is skipped.
  std::deque<std::pair<base::TimePoint, Uid>> order_;
};

}  // namespace quota
