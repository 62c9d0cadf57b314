#pragma once

// What admission does to a quota's status: it raises `used` and says for whom. No view of the
// objects is needed. Pure functions; any thread.
//
// What holds before and after each, for every object: `used` has for it at least what it uses as
// stored, and at least what each listed entry lets it use.

#include "pkg/accounting/reservation_list.h"

namespace accounting {

// A quota's status as it is to be written.
struct Standing {
  ResourceList used;
  ReservationList list;
};

// What a decision starts from: `used`, but no less than our last write made it. A stranger who
// lowered it may not know of reservations; if it was right, the leader's recount says so.
ResourceList Decisive(const ResourceList& used, const ReservationList& list);

// What `used` lacks for the object to use `usage`, where it is stored with `stored`.
ResourceList Rise(const ReservationList& list, const Uid& uid, const ResourceList& usage,
                  const ResourceList& stored);

// Raises `used` and adds the entry.
void Reserve(Standing& standing, Reservation reservation);

// Takes back what was reserved for one object, by who granted it and knows that nobody was told.
// False: it is not there any more.
bool Withdraw(Standing& standing, std::string_view by, std::uint64_t n, const Uid& uid);
// The same of an entry without objects, by its writer: what it granted from it gets entries of its
// own by the same write.
bool Withdraw(Standing& standing, std::string_view by, std::uint64_t n);

}  // namespace accounting
