#include "pkg/accounting/reservation_list.h"

#include <glog/logging.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace accounting {
namespace {

bool IsMerged(const Reservation& entry) { return entry.objects.empty() && entry.unassigned == 0; }

// Returns the most that all objects of an entry may use together.
ResourceList WholeOf(const Reservation& entry) {
  ResourceList whole;
  const auto times = static_cast<std::int64_t>(std::max<std::size_t>(1, entry.objects.size()));
  whole.Add(entry.usage, times);
  return whole;
}

auto Is(std::string_view by, std::uint64_t n) {
  return [by, n](const Reservation& entry) { return entry.n == n && entry.by == by; };
}

}  // namespace

ResourceList PaidBy(const Reservation& entry, const ResourceList& stored) {
  ResourceList paid;
  for (const auto& [name, usage] : entry.usage) {
    const quota::Quantity base = entry.stored.Get(name);
    const quota::Quantity added = quota::Above(usage, base);
    paid.Set(name, std::min(usage, std::min(stored.Get(name), base).Add(added)));
  }
  return paid;
}

void ReservationList::Add(Reservation reservation) {
  CHECK(!reservation.by.empty() && Find(reservation.by, reservation.n) == nullptr)
      << "reservation " << reservation.by << "/" << reservation.n << " is there already";
  CHECK(reservation.objects.empty() || reservation.unassigned == 0);
  entries_.push_back(std::move(reservation));
}

const Reservation* ReservationList::Find(std::string_view by, std::uint64_t n) const {
  const auto found = std::ranges::find_if(entries_, Is(by, n));
  return found == entries_.end() ? nullptr : &*found;
}

bool ReservationList::Remove(std::string_view by, std::uint64_t n, const Uid& uid) {
  const auto entry = std::ranges::find_if(entries_, Is(by, n));
  if (entry == entries_.end() || std::erase(entry->objects, uid) == 0) return false;
  if (entry->objects.empty()) entries_.erase(entry);
  return true;
}

bool ReservationList::Remove(std::string_view by, std::uint64_t n) {
  return std::erase_if(entries_, Is(by, n)) > 0;
}

bool ReservationList::Names(const Uid& uid) const {
  return std::ranges::any_of(entries_, [&](const auto& entry) { return entry.Names(uid); });
}

ResourceList ReservationList::Granted(const Uid& uid, const ResourceList& stored) const {
  ResourceList granted;
  for (const Reservation& entry : entries_) {
    if (entry.Names(uid)) granted = quota::Larger(granted, PaidBy(entry, stored));
  }
  return granted;
}

std::size_t ReservationList::objects() const {
  std::size_t objects = 0;
  for (const Reservation& entry : entries_) objects += entry.objects.size();
  return objects;
}

std::size_t ReservationList::amounts() const {
  std::size_t amounts = 0;
  for (const Reservation& entry : entries_) amounts += entry.usage.size();
  return amounts;
}

ResourceList ReservationList::Reserved() const {
  ResourceList reserved;
  for (const Reservation& entry : entries_) reserved.Add(WholeOf(entry));
  return reserved;
}

ResourceList ReservationList::ReservedBy(std::string_view by) const {
  ResourceList reserved;
  for (const Reservation& entry : entries_) {
    if (entry.by == by) reserved.Add(quota::Excess(WholeOf(entry), {}));
  }
  return reserved;
}

ResourceList ReservationList::Unassigned() const {
  ResourceList unassigned;
  for (const Reservation& entry : entries_) {
    if (entry.unassigned > 0) unassigned.Add(entry.usage);
  }
  return unassigned;
}

bool ReservationList::HasUnassigned() const {
  return std::ranges::any_of(entries_,
                             [](const Reservation& entry) { return entry.unassigned > 0; });
}

bool ReservationList::Merge(const Bounds& bounds, std::string_view by, std::uint64_t n) {
  static_assert(Bounds().bytes < std::size_t{256} * 1024,
                "the API server's bound of all annotations");
  std::size_t keep = objects();
  const auto fits = [&] {
    return objects() <= bounds.objects && amounts() <= bounds.amounts &&
           Print().size() <= bounds.bytes;
  };
  if (fits()) return false;
  Reservation merged{.by = std::string(by), .n = n, .of = "", .usage = {}, .objects = {}};
  while (!fits() && keep > 0) {
    keep /= 2;  // merge more than needed, so that the next write need not merge again
    while (objects() > keep) {
      const auto oldest = std::ranges::find_if(
          entries_, [](const Reservation& entry) { return !entry.objects.empty(); });
      merged.usage.Add(WholeOf(*oldest));
      merged.webhook = std::max(merged.webhook, oldest->webhook);
      entries_.erase(oldest);
    }
  }
  // If there are too many merged entries, merge the newest ones: their usage then ends later, never
  // earlier.
  while (std::ranges::count_if(entries_, IsMerged) >= static_cast<int>(bounds.merged)) {
    const auto last = std::find_if(entries_.rbegin(), entries_.rend(), IsMerged);
    merged.usage.Add(last->usage);
    merged.webhook = std::max(merged.webhook, last->webhook);
    entries_.erase(std::next(last).base());
  }
  Add(std::move(merged));
  return true;
}

}  // namespace accounting
