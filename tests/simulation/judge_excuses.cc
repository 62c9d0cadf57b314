// Excuses: the times in which a limit may be exceeded.

#include <algorithm>

#include "pkg/accounting/reservation_list.h"
#include "tests/simulation/judge.h"

namespace simulation {
namespace {

using accounting::ReservationList;

Amounts AmountsOf(const quota::ResourceList& usage) {
  Amounts amounts;
  for (const auto& [name, quantity] : usage) {
    amounts[name] = UnitsOf(quantity);
  }
  return amounts;
}

void AddTo(Amounts& sum, const Amounts& more) {
  for (const auto& [name, amount] : more) sum[name] += amount;
}

// The most that the entries allow each object to use.
std::map<quota::Uid, Amounts> GrantedIn(const ReservationList& list) {
  std::map<quota::Uid, Amounts> granted;
  for (const accounting::Reservation& entry : list.entries()) {
    for (const quota::Uid& uid : entry.objects) {
      Amounts& most = granted[uid];
      for (const auto& [name, amount] : AmountsOf(entry.usage)) {
        most[name] = std::max(Get(most, name), amount);
      }
    }
  }
  return granted;
}

}  // namespace

// The same texts are read at each store and each write of a status.
std::shared_ptr<const ReservationList> Judge::ListIn(const StoredQuota& quota) const {
  constexpr std::size_t kMostLists = 64;
  const std::string text = quota.uid + " " + quota.reservations;
  if (lists_.size() >= kMostLists && !lists_.contains(text)) lists_.clear();
  const auto [entry, added] = lists_.try_emplace(text);
  if (!added) return entry->second;
  auto parsed = ReservationList::Parse(quota.reservations, quota.uid);
  if (parsed) entry->second = std::make_shared<const ReservationList>(std::move(*parsed));
  return entry->second;
}

// The part of `used` that no stored object uses: amounts that entries allow objects beyond their
// stored usage, reservations in advance, merged entries, and external charges.
Amounts Judge::ReservedBeyond(const StoredQuota& quota) const {
  Amounts beyond;
  if (quota.reservations.empty()) return beyond;
  const auto list = ListIn(quota);
  if (!list) return beyond;
  std::map<quota::Uid, Amounts> granted = GrantedIn(*list);
  for (const Resource resource : {Resource::kClaims, Resource::kSecrets, Resource::kMachines}) {
    for (const auto& [key, thing] : server_->things(resource)) {
      const auto entry = granted.find(quota::Uid::FromText(thing.uid));
      if (entry == granted.end()) continue;
      const Amounts stored = server_->CountedBy(quota, thing);
      for (auto& [name, amount] : entry->second) {
        amount = std::max<std::int64_t>(0, amount - Get(stored, name));
      }
    }
  }
  for (const auto& [uid, amounts] : granted) AddTo(beyond, amounts);
  for (const accounting::Reservation& entry : list->entries()) {
    if (entry.objects.empty()) AddTo(beyond, AmountsOf(entry.usage));
  }
  AddTo(beyond, AmountsOf(list->external));
  return beyond;
}

// The part of `used` that a replica without entries has added for objects that are not stored yet.
Amounts Judge::ChargedBeyond(const StoredQuota& quota) const {
  Amounts beyond;
  const base::TimePoint since = timeline_.Now() - kAdmissionLasts - more_;
  for (auto charged = charged_.rbegin(); charged != charged_.rend(); ++charged) {
    if (charged->at < since) break;
    const Thing& after = charged->after;
    if (charged->quota_uid != quota.uid || after.uid.empty()) continue;
    const Thing* const thing = server_->FindThing(after.resource, {after.ns, after.name});
    const bool is_it = thing != nullptr && thing->uid == after.uid;
    const Amounts stored = is_it ? server_->CountedBy(quota, *thing) : Amounts();
    const Amounts wanted = server_->CountedBy(quota, after);
    for (const auto& [name, by] : charged->amount) {
      if (Get(stored, name) < Get(wanted, name)) beyond[name] += by;
    }
  }
  return beyond;
}

// True if `used` without reservations is at least the truth for each enforced name. Reservations,
// and charges without an entry, are left out, because they end or are for other objects. A quota in
// mode Warn or Audit must have counted the name, because it admits objects before that.
bool Judge::CoversTruth(const StoredQuota& quota, const Amounts& truth) const {
  if (!quota.status_hard || !quota.status_used || *quota.status_hard != quota.hard) return false;
  Amounts beyond = ReservedBeyond(quota);
  AddTo(beyond, ChargedBeyond(quota));
  return std::all_of(truth.begin(), truth.end(), [&](const auto& entry) {
    const auto& [name, amount] = entry;
    const bool counted = quota.enforced() || quota.status_used->contains(name);
    const std::int64_t used = Get(*quota.status_used, name);
    return counted && (used >= kMost || used - Get(beyond, name) >= amount);
  });
}

void Judge::Open(Excuses& excuses) {
  if (!excuses.since) excuses.since = timeline_.Now();
}

// An excuse ends when the status covers the truth. It opens again if an object that was admitted
// meanwhile is stored later, and the status does not cover it.
void Judge::EndExcuses() {
  for (const auto& [key, quota] : server_->quotas()) {
    Limits& limits = limits_[quota.uid];
    const Amounts truth = server_->TrueUse(quota);
    const bool known = truth.size() == quota.hard.size();
    if (!known) Open(limits.by_class);
    const bool any = IsExcused(limits.excuses) || IsExcused(limits.by_class);
    const bool covers = any && CoversTruth(quota, truth);
    Settle(limits.excuses, covers && !silent_ && tree_shown_);
    Settle(limits.by_class, known && covers && classes_shown_ && !silent_);
  }
}

void Judge::Settle(Excuses& excuses, bool covers) {
  if (!covers && IsExcused(excuses)) Open(excuses);
  if (!excuses.since || !covers) return;
  excuses.closed.emplace_back(*excuses.since, timeline_.Now());
  excuses.since.reset();
}

// An object that is stored now may have been admitted while an excuse was still open.
bool Judge::IsExcused(const Excuses& excuses) const {
  if (excuses.since) return true;
  return std::any_of(excuses.closed.begin(), excuses.closed.end(), [&](const auto& time) {
    return time.second + kAdmissionLasts + more_ >= timeline_.Now();
  });
}

// True if a limit could be exceeded, or another scope counted, at some time since then.
bool Judge::WasExcused(const Limits& limits, base::TimePoint since) {
  return limits.excuses.since || std::ranges::any_of(limits.excuses.closed, [&](const auto& time) {
           return time.second >= since;
         });
}

bool Judge::IsExcused(const Limits& limits, const std::string& name) const {
  return IsExcused(limits) || (MayBeUnknown(name) && IsExcused(limits.by_class));
}

}  // namespace simulation
