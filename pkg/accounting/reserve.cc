#include "pkg/accounting/reserve.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

namespace accounting {
namespace {

// Returns what other calls for the same creation reserved.
ResourceList GrantedAtCreation(const ReservationList& list, const Uid& uid) {
  ResourceList granted;
  for (const Reservation& entry : list.entries()) {
    const bool created = entry.Names(uid) && entry.from.empty();
    if (created) granted = quota::Larger(granted, entry.usage);
  }
  return granted;
}

}  // namespace

ResourceList Decisive(const ResourceList& used, const ReservationList& list) {
  ResourceList decisive = used;
  for (const auto& [name, amount] : used) {
    decisive.Set(name, std::max(amount, list.used.Get(name)));
  }
  return decisive;
}

ResourceList Rise(const ReservationList& list, const Uid& uid, const ResourceList& usage,
                  const ResourceList& stored) {
  return quota::Excess(usage, quota::Larger(stored, list.Granted(uid, stored)));
}

void Reserve(Standing& standing, Reservation reservation) {
  const ResourceList stored = reservation.stored;
  CHECK(stored.empty() || reservation.objects.size() == 1) << "objects that use different amounts";
  if (reservation.objects.empty()) standing.used.Add(reservation.usage);
  for (const Uid& uid : reservation.objects) {
    standing.used.Add(Rise(standing.list, uid, reservation.usage, stored));
  }
  standing.list.Add(std::move(reservation));
}

bool Withdraw(Standing& standing, std::string_view by, std::uint64_t n, const Uid& uid) {
  const Reservation* entry = standing.list.Find(by, n);
  if (entry == nullptr) return false;
  const ResourceList usage = entry->usage;
  const ResourceList stored = entry->stored;
  if (!standing.list.Remove(by, n, uid)) return false;
  // Computed after the removal, so that amounts which other entries also reserve stay in `used`.
  quota::Lower(standing.used, Rise(standing.list, uid, usage, stored));
  return true;
}

bool Withdraw(Standing& standing, std::string_view by, std::uint64_t n) {
  const Reservation* entry = standing.list.Find(by, n);
  if (entry == nullptr) return false;
  CHECK(entry->objects.empty()) << "objects of " << by << "/" << n << " would lose their usage";
  quota::Lower(standing.used, entry->usage);
  return standing.list.Remove(by, n);
}

void Assign(Standing& standing, Reservation creations) {
  CHECK(!creations.objects.empty()) << "creations without objects would keep their usage forever";
  CHECK(creations.from.empty()) << "an update cannot be granted from an unassigned entry";
  for (const Uid& uid : creations.objects) {
    const ResourceList granted = GrantedAtCreation(standing.list, uid);
    standing.used.Add(quota::Excess(creations.usage, granted));
  }
  standing.list.Add(std::move(creations));
}

}  // namespace accounting
