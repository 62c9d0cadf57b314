#include "controllers/quota/account.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "pkg/accounting/timing.h"
#include "pkg/api/resource_version.h"

namespace controllers {
namespace {

bool AnyLower(const quota::ResourceList& before, const quota::ResourceList& after) {
  return std::ranges::any_of(after, [&](const auto& entry) {
    const quota::Quantity* old = before.Find(entry.first);
    return old != nullptr && entry.second < *old;
  });
}

// Calls `status` for a status to change if `added` has limits that `now` lacks, and adds them.
void AddLimits(const quota::QuotaStatus& now, const quota::QuotaStatus& added,
               const std::function<quota::QuotaStatus&()>& status) {
  for (const auto& [name, limit] : added.hard) {
    if (now.hard.Find(name) != nullptr) continue;
    status().hard.Set(name, limit);
    const quota::Quantity* used = added.used.Find(name);
    if (used != nullptr) status().used.Set(name, *used);
  }
}

void KeepLargest(Accounts::Tally& tally, const api::ObjectKey& key, std::size_t reservations,
                 const accounting::ReservationList& list) {
  const bool full = tally.largest.size() == Accounts::kMostLargest;
  if (reservations == 0 || (full && reservations <= tally.largest.begin()->first)) return;
  if (full) tally.largest.erase(tally.largest.begin());
  tally.largest.emplace(reservations, std::pair(key, list.Reserved()));
}

}  // namespace

bool Account::OnQuota(base::TimePoint now, const quota::Quota* before, const quota::Quota& quota,
                      bool skipped, const accounting::Counted& counted) {
  at_least_seen_.reset();
  const auto recorded = listed() != nullptr ? std::optional(known().writes) : std::nullopt;
  const bool restored =
      before != nullptr && api::IsKnownOlder(quota.resource_version, before->resource_version);
  if (restored) list.OnRestored();
  if (pending_ != nullptr && !pending_->text.empty() && pending_->text == quota.reservations) {
    list.TakeOurs(pending_->list);  // known without parsing
  } else {
    list.Take(now, quota.reservations, uid);
  }
  const accounting::ReservationList* const stands = listed();
  questions.OnList(stands);
  writes.turn.OnList(now, known(), author_->by);
  first_seen.See(now, known());
  const bool answered = pending_ != nullptr && pending_->answer == quota.resource_version;
  const bool alike = pending_ != nullptr && pending_->status == quota.status;
  // Our recount without a list may be shown before its answer. Only the answer tells it from an
  // external write of the same status, see Commit().
  const bool unlisted = stands == nullptr && !recorded;
  const bool awaits = unlisted && alike && pending_->text.empty();
  if (awaits) {
    external.OnUnanswered(quota.status.used);
  } else {
    external.OnStatus(now, quota.status.used, stands, skipped, counted, quota.resource_version);
  }
  if (!known().HasUnassigned()) appeared = {};
  decisive.reset();
  if (stands != nullptr) {
    quota::ResourceList used = accounting::Decisive(quota.status.used, *stands);
    if (used != quota.status.used) {
      decisive = std::make_unique<quota::Quota>(quota);
      decisive->status.used = std::move(used);
    }
  }
  // Somebody lowered `used`. Their watch may be ahead of ours, so wait before writing it back. Do
  // not extend a running wait: a writer in a tight loop would stop us forever.
  const bool ours = answered || alike || (stands != nullptr && recorded != stands->writes);
  const bool lowered =
      before != nullptr && !ours && AnyLower(before->status.used, quota.status.used);
  if (lowered && writes.not_before <= now) writes.not_before = now + accounting::kContradicts;
  return answered;
}

void Account::OnAppeared(base::TimePoint now, accounting::Growth growth) {
  if (growth.is_new && known().HasUnassigned()) appeared.Add(growth.usage);
  external.OnAppeared(now, std::move(growth), listed());
}

// What was returned before in the same turn stays valid, so it is written in place.
const quota::Quota& Account::AtLeastSeen(const quota::Quota& quota) {
  bool differs = false;
  const auto status = [&]() -> quota::QuotaStatus& {
    if (!at_least_seen_) at_least_seen_ = std::make_unique<quota::Quota>();
    if (!std::exchange(differs, true)) *at_least_seen_ = quota;
    return at_least_seen_->status;
  };
  for (const auto& [name, used] : quota.status.used) {
    const quota::Quantity* more = cluster.seen.Find(name);
    if (more != nullptr && *more > used) status().used.Set(name, *more);
  }
  // A write of another version cannot be made any more, or was made.
  const bool adds =
      pending_ != nullptr && pending_->quota.resource_version == quota.resource_version;
  if (adds) AddLimits(quota.status, pending_->status, status);
  return differs ? *at_least_seen_ : quota;
}

bool Account::IsPlausible(const quota::ResourceList& used,
                          const quota::ResourceList& desired) const {
  if (listed() == nullptr || known().used != used || appeared.empty()) return false;
  const quota::ResourceList raised = quota::Excess(desired, used);
  return quota::Excess(used, desired).empty() && used.size() == desired.size() &&
         quota::Excess(raised, appeared).empty() &&
         quota::Excess(raised, known().Unassigned()).empty();
}

Account* Accounts::Find(const quota::Quota& quota) {
  const auto account = accounts_.find(quota.key);
  const bool same = account != accounts_.end() && account->second.uid == quota.uid;
  return same ? &account->second : nullptr;
}

const Account* Accounts::Find(const api::ObjectKey& key) const {
  const auto account = accounts_.find(key);
  return account == accounts_.end() ? nullptr : &account->second;
}

Account& Accounts::Of(const quota::Quota& quota) {
  const auto [entry, added] = accounts_.try_emplace(quota.key, scheduler_, author, crowd_);
  // A quota that was created again under the same name starts with a new account.
  if (!added && entry->second.uid != quota.uid) entry->second = Account(scheduler_, author, crowd_);
  entry->second.uid = quota.uid;
  return entry->second;
}

bool Accounts::Count(Tally& tally) const {
  constexpr int kQuotasAStep = 512;
  auto account = accounts_.upper_bound(tally.place);
  for (int i = 0; account != accounts_.end() && i < kQuotasAStep; ++i, ++account) {
    tally.place = account->first;
    if (account->second.list.later_until()) ++tally.later;
    if (account->second.listed() == nullptr) continue;
    const accounting::ReservationList& list = account->second.known();
    std::size_t reservations = 0;
    for (const accounting::Reservation& entry : list.entries()) {
      reservations += std::max<std::size_t>(1, entry.objects.size());
    }
    tally.reservations += reservations;
    KeepLargest(tally, account->first, reservations, list);
    const auto oldest = account->second.first_seen.Oldest();
    if (oldest) tally.oldest = std::min(tally.oldest.value_or(*oldest), *oldest);
  }
  return account != accounts_.end();
}

}  // namespace controllers
