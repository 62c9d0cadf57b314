#pragma once

// The changes of a quota's status by admission: it raises `used` and adds entries. This needs no
// view of the objects. Pure functions; any thread.
//
// Invariant of each function: for every object, `used` has at least its stored usage, and at least
// what each listed entry allows it.

#include "pkg/accounting/reservation_list.h"

namespace accounting {

// The status of a quota that will be written.
struct Standing {
  ResourceList used;
  ReservationList list;
};

// Returns the `used` that decisions start from: for each name the larger of `used` and the value of
// our last write. An external writer that lowers `used` may not know reservations. If it was right,
// the leader's recount lowers it.
ResourceList Decisive(const ResourceList& used, const ReservationList& list);

// Returns what must be added to `used` so that the object may use `usage`, if its stored usage is
// `stored`.
ResourceList Rise(const ReservationList& list, const Uid& uid, const ResourceList& usage,
                  const ResourceList& stored);

// Raises `used` and adds the entry.
void Reserve(Standing& standing, Reservation reservation);

// Takes back the reservation for one object. REQUIRES: this process granted it, and no caller
// relies on it. Returns false if the list does not have it any more.
bool Withdraw(Standing& standing, std::string_view by, std::uint64_t n, const Uid& uid);
// The same for an entry without objects. If objects were granted from it, the writer calls Assign()
// for them in the same write.
bool Withdraw(Standing& standing, std::string_view by, std::uint64_t n);
// Adds the entry of creations that were granted from an unassigned entry. Their usage stays in
// `used`, even if entries of later updates allow these objects more: an update adds only what it
// needs beyond the creation. REQUIRES: a creation.
void Assign(Standing& standing, Reservation creations);

}  // namespace accounting
