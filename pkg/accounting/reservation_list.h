#pragma once

// The reservations of one quota as they stand in the quota object, with what each reader needs to
// judge them. Written in the same guarded patch as `status.used`, so a reader has both or neither.
//
//   {"reservations":[
//      {"by":"7f3a9c01","n":41,"of":"pods","usage":{"pods":"1"},"objects":["7b0c…","e1f4…"]},
//      {"by":"7f3a9c01","n":42,"of":"persistentvolumeclaims","usage":{"requests.storage":"5Gi"},
//       "objects":["0a66…"],"from":"18234"},
//      {"by":"c0193e5d","n":7,"of":"pods","usage":{"pods":"64"},"unassigned":64}],
//    "floor":{"pods":"18230"},"writes":812,"used":{"pods":"71"},"strangers":{"pods":"2"}}
//
// Values; any thread.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/accounting/reservation.h"
#include "pkg/base/error.h"

namespace accounting {

struct Bounds {
  std::size_t objects = 1'000;
  std::size_t bytes = std::size_t{64} * 1024;
  std::size_t merged = 16;  // entries that others were merged into
};

class ReservationList {
 public:
  // Errors: kMalformed. Then none of it is believed: what it stood for is a stranger's.
  static base::Result<ReservationList> Parse(std::string_view text);
  [[nodiscard]] std::string Print() const;

  // REQUIRES: its writer has not used its number before, and it uses something.
  void Add(Reservation reservation);
  [[nodiscard]] const Reservation* Find(std::string_view by, std::uint64_t n) const;
  // One object of an entry; the entry goes with its last. False: it is not there.
  bool Remove(std::string_view by, std::uint64_t n, const Uid& uid);
  // The whole entry.
  bool Remove(std::string_view by, std::uint64_t n);
  // True if some entry is for the object.
  [[nodiscard]] bool Names(const Uid& uid) const;
  // What `used` has for the object by the entries, if it uses `stored`: of each name the largest,
  // since of several requests from one version at most one is stored, and what a later one may use
  // it may use in all. But an entry whose request started from a version that used more has no more
  // than it added: that version is not stored any more.
  [[nodiscard]] ResourceList Granted(const Uid& uid, const ResourceList& stored) const;

  // What is expected, and for nobody yet.
  [[nodiscard]] ResourceList Unassigned() const;

  // The oldest entries become one of their sum until the bounds hold, in the name of who does it.
  // What the list counts for, in any view, never falls by this. True if something was merged.
  bool Merge(const Bounds& bounds, std::string_view by, std::uint64_t n);

  [[nodiscard]] const std::vector<Reservation>& entries() const { return entries_; }
  // To be filtered: order and numbers stay.
  [[nodiscard]] std::vector<Reservation>& entries() { return entries_; }
  [[nodiscard]] std::size_t objects() const;
  bool operator==(const ReservationList&) const = default;

  // By resource: the newest version of this namespace's objects (of all, where the quota is over
  // several) that was observed by those who dropped an entry or counted. Who has not seen that far
  // must not count.
  std::map<std::string, std::string> floor;
  std::uint64_t writes = 0;  // of this list, so far: who reads it knows whether it was written
  ResourceList used;         // status.used as this write made it: what differs is a stranger's
  ResourceList strangers;    // what of it the writer held for strangers

 private:
  [[nodiscard]] std::size_t BytesAtMost() const;

  std::vector<Reservation> entries_;  // oldest first
};

}  // namespace accounting
