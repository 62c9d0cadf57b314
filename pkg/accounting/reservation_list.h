#pragma once

// The reservations of one quota as stored in the quota object, with the data that readers need to
// judge them. The same patch, with a resourceVersion, writes them and `status.used`. So a reader
// has both or neither.
//
//   {"format":1,"uid":"0b9c7b1e-6c2f-4d0e-9a55-3f1a2b4c5d6e","reservations":[
//      {"by":"7f3a9c01","n":41,"of":"pods","usage":{"pods":"1"},"objects":"k3J9fQ… zz01Ab…"},
//      {"by":"7f3a9c01","n":42,"of":"persistentvolumeclaims","usage":{"requests.storage":"5Gi"},
//       "objects":"Qw8xE2…","from":"18234"},
//      {"by":"c0193e5d","n":7,"of":"pods","usage":{"pods":"64"},"unassigned":64}],
//    "floor":{"pods":"18230"},"writes":812,"used":{"pods":"71"},"strangers":{"pods":"2"}}
//
// DESIGN.md has the grammar of the text, and the rules for later versions of it.
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
  std::size_t bytes = std::size_t{64} * 1024;  // of the text
  std::size_t amounts = 32'768;                // in the usage of all entries
  std::size_t merged = 16;                     // number of merged entries
};

// Returns what `used` includes for an object of the entry, if the object uses `stored`: what the
// entry added, plus the smaller of `stored` and the usage that the entry started from.
ResourceList PaidBy(const Reservation& entry, const ResourceList& stored);

class ReservationList {
 public:
  // The number of the format that this version writes. It reads all formats up to this one.
  static constexpr std::uint64_t kFormat = 1;
  // The most bytes of members that a reader does not know and keeps, in a list with its entries.
  static constexpr std::size_t kMostFurther = std::size_t{4} * 1024;

  // Parses the list of the quota that has this uid. Errors:
  // - kMalformed. The text is then ignored as a whole. A process that knows an earlier list with
  //   entries keeps that list and stores it again. Otherwise the part of `used` that is not
  //   observed counts as an external charge.
  // - kNotFound: the text is the list of another quota. So this one has none.
  // - kInvalid: a later version wrote the list in a format that this one must not write. See
  //   kLaterFormat in timing.h.
  static base::Result<ReservationList> Parse(std::string_view text, std::string_view uid);
  [[nodiscard]] std::string Print() const;

  // REQUIRES: the list has no entry with this writer and number.
  void Add(Reservation reservation);
  [[nodiscard]] const Reservation* Find(std::string_view by, std::uint64_t n) const;
  // Removes one object of an entry, and the entry with its last object. Returns false if it is not
  // in the list.
  bool Remove(std::string_view by, std::uint64_t n, const Uid& uid);
  // Removes the whole entry.
  bool Remove(std::string_view by, std::uint64_t n);
  // True if some entry is for the object.
  [[nodiscard]] bool Names(const Uid& uid) const;
  // Returns what `used` includes for the object because of the entries, if the object uses
  // `stored`: the largest amount of each name. Amounts are not added up, because at most one of
  // several requests from one version is stored, and a later request has the total usage of the
  // object. An entry whose request started from more than `stored` counts only with the growth that
  // it added, because that version is not stored any more.
  [[nodiscard]] ResourceList Granted(const Uid& uid, const ResourceList& stored) const;

  // Returns the sum of all entries. An object counts once for each of its entries.
  [[nodiscard]] ResourceList Reserved() const;
  // The same for the entries of one writer.
  [[nodiscard]] ResourceList ReservedBy(std::string_view by) const;
  // Returns the sum of the unassigned entries.
  [[nodiscard]] ResourceList Unassigned() const;
  // True if objects may appear that were granted from an unassigned entry.
  [[nodiscard]] bool HasUnassigned() const;

  // Merges the oldest entries into one with their sum, with the writer `by` and the number `n`,
  // until the list keeps the bounds. The list never counts less than before, in any view. Returns
  // true if entries were merged.
  bool Merge(const Bounds& bounds, std::string_view by, std::uint64_t n);

  [[nodiscard]] const std::vector<Reservation>& entries() const { return entries_; }
  // For callers that remove entries. They must keep the order.
  [[nodiscard]] std::vector<Reservation>& entries() { return entries_; }
  [[nodiscard]] std::size_t objects() const;
  [[nodiscard]] std::size_t amounts() const;
  bool operator==(const ReservationList&) const = default;

  // metadata.uid of the quota. A copy of the quota has another one. "": a list of format 0, which
  // did not record it.
  std::string owner;
  // By resource: the newest version of an object, in any namespace, that any process had observed
  // when it dropped an entry or recounted. A process that has not seen this version must not
  // recount.
  std::map<std::string, std::string> floor;
  std::uint64_t writes = 0;  // number of writes of this list; tells two writes apart
  ResourceList used;         // status.used as written with this list; others made the difference
  ResourceList external;     // the external charges that the writer held; "strangers" in the text
  std::string further;       // as Reservation::further

 private:
  std::vector<Reservation> entries_;  // oldest first
};

}  // namespace accounting
