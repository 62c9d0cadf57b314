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

const accounting::ReservationList& Account::known() const {
  static const accounting::ReservationList none;
  return list ? *list : none;
}

bool Account::OnQuota(base::TimePoint now, const quota::Quota* before, const quota::Quota& quota,
                      bool skipped, const accounting::Counted& counted) {
  at_least_seen_.reset();
  const auto recorded = list ? std::optional(list->writes) : std::nullopt;
  // The server was restored. What the list had came later, so it is not stored any more.
  const bool restored =
      before != nullptr && api::IsKnownOlder(quota.resource_version, before->resource_version);
  if (restored) list.reset();
  TakeList(now, quota.reservations);
  const accounting::ReservationList* const stands = listed();
  questions.OnList(stands);
  turn.OnList(now, known(), author_->by);
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
  if (lowered && not_before <= now) not_before = now + accounting::kContradicts;
  return answered;
}

void Account::TakeList(base::TimePoint now, const std::string& text) {
  rejected.clear();
  std::optional<accounting::ReservationList> taken;
  const bool ours = pending_ != nullptr && !text.empty() && pending_->text == text;
  if (ours) taken = pending_->list;  // known without parsing
  const std::optional<Later> before = std::exchange(later, std::nullopt);
  if (!ours && !text.empty()) taken = Parse(now, text);
  if (later && before && before->text == later->text) later->until = before->until;
  // A later version reads our lists. So its list has what is still needed of the one that we know.
  lost = !taken && !later && !known().entries().empty();
  if (!ours && taken && TakeForgedFrom(*taken)) lost = true;
  if (taken || !lost) list = std::move(taken);
}

// Whoever forged an entry of ours may have removed others. The processes that are not named in it
// take the rest of the list, and may have added to it since.
bool Account::TakeForgedFrom(accounting::ReservationList& shown) {
  const auto is_forged = [&](const auto& e) { return e.by == author_->by && e.n > author_->n; };
  if (std::erase_if(shown.entries(), is_forged) == 0) return false;
  rejected = "an entry in our name that we have not written";
  for (const accounting::Reservation& entry : known().entries()) {
    if (shown.Find(entry.by, entry.n) == nullptr) shown.Add(entry);
  }
  return true;
}

std::optional<accounting::ReservationList> Account::Parse(base::TimePoint now,
                                                          const std::string& text) {
  auto parsed = accounting::ReservationList::Parse(text, uid);
  if (parsed) return std::move(*parsed);
  rejected = parsed.error().message;
  if (parsed.error().Is(base::ErrorCode::kInvalid)) {
    later = {.text = std::hash<std::string>()(text), .until = now + accounting::kLaterFormat};
  }
  return std::nullopt;
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
    const quota::Quantity* more = seen.Find(name);
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
  if (!list || list->used != used || appeared.empty()) return false;
  const quota::ResourceList raised = quota::Excess(desired, used);
  return quota::Excess(used, desired).empty() && used.size() == desired.size() &&
         quota::Excess(raised, appeared).empty() &&
         quota::Excess(raised, list->Unassigned()).empty();
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
    if (account->second.later) ++tally.later;
    if (!account->second.list) continue;
    const accounting::ReservationList& list = *account->second.list;
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
