#include "controllers/quota/account.h"

#include <glog/logging.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "pkg/accounting/timing.h"
#include "pkg/api/resource_version.h"

namespace controllers {
namespace {

using accounting::ReservationList;
using accounting::Standing;

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

// Drops ended entries whose amounts are observed, except those that the process `by` numbered above
// `last`. Call it after the new grants are added: `used` still contains the usage of the old
// entries, so a new entry for the same object must not raise it again.
void DropOlder(ReservationList& list, const std::string& by, std::uint64_t last,
               const accounting::View& view) {
  std::vector<accounting::Reservation>& entries = list.entries();
  const auto added = std::stable_partition(entries.begin(), entries.end(), [&](const auto& entry) {
    return entry.by != by || entry.n <= last;
  });
  std::vector<accounting::Reservation> mine(std::make_move_iterator(added),
                                            std::make_move_iterator(entries.end()));
  entries.erase(added, entries.end());
  accounting::DropObserved(list, view);
  std::ranges::move(mine, std::back_inserter(entries));
}

// The text of the draft's list; "" if it stores none. A quota that never had a reservation gets no
// list. So without admission the quotas contain nothing of ours.
std::string ListOf(const Draft& draft) {
  const bool listed = !draft.quota.reservations.empty() || !draft.list.entries().empty();
  return listed ? draft.list.Print() : std::string();
}

// Drafts a write without a count, which was decided from this `used`.
Draft DraftOf(const quota::Quota& quota, const quota::ResourceList& used, Standing standing,
              const quota::ResourceList& own) {
  const quota::ResourceList lowered = quota::Excess(used, standing.used);
  CHECK(quota::Excess(lowered, own).empty())
      << "without a count, used of " << quota.key.ToString() << " falls by " << lowered.ToString()
      << ", and this process had reserved " << own.ToString();
  return {.quota = quota,
          .status = {quota.status.hard, std::move(standing.used)},
          .list = std::move(standing.list)};
}

void KeepLargest(Accounts::Tally& tally, const api::ObjectKey& key, std::size_t reservations,
                 const ReservationList& list) {
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
  const ReservationList* const stands = listed();
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
  if (growth.is_new && own.HasDrawn(growth.uid)) return;
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

PendingWrite::~PendingWrite() {
  CHECK(draft_ == nullptr) << "nobody told the account of " << draft_->quota.key.ToString()
                           << " what became of a write";
}

void PendingWrite::OnAnswer(std::string version) {
  CHECK(draft_ != nullptr && draft_->answer.empty()) << "a second answer to one write";
  draft_->answer = std::move(version);
}

Draft Account::Reserve(base::TimePoint now, const admission::ReservePlan& plan,
                       const quota::Quota& quota, const QuotaView& view, bool lags, bool leads) {
  const quota::ResourceList& used = plan.quota.status.used;
  Standing standing{used, known()};
  own.Assign(standing);
  const std::uint64_t last = author_->n;
  OwnReservations::Reserved reserved{.added = own.AddEntries(now, plan, standing)};
  if (!lags) {
    own.AddBurst(now, plan, standing, reserved);
  } else {
    // The plan counts the rest of the burst as free, so the rest is released only as far as the new
    // grants need it.
    standing.used = quota::Larger(standing.used, used);
  }
  DropOlder(standing.list, author_->by, last, view);
  // The first list says, through `external`, how much of `used` our view has shown.
  if (listed() == nullptr) accounting::RaiseFloor(standing.list, view.floor_resources(), view);
  standing.list.external = external.ToRecord(quota.status.used, listed(), leads);
  if (standing.list.Merge({}, author_->by, author_->n + 1)) ++author_->n;
  auto& burst = reserved.burst;
  const accounting::Reservation* const whole =
      burst ? standing.list.Find(author_->by, burst->n) : nullptr;
  CHECK(whole == nullptr || whole->usage == burst->left)
      << "a burst does not have what it reserved";
  // A burst that was merged into another entry cannot be granted from.
  if (whole == nullptr) burst.reset();
  CHECK(standing.list.entries().back().by == author_->by) << "a write would not be found again";
  Draft draft = DraftOf(quota, used, std::move(standing), known().ReservedBy(author_->by));
  draft.reserved = std::move(reserved);
  return draft;
}

Draft Account::StoreAgain(const quota::Quota& quota, bool takes_back, bool leads) {
  const quota::ResourceList& used = Decisive(quota).status.used;
  Standing standing{used, known()};
  const std::size_t taken_back = takes_back ? own.TakeBack(standing) : 0;
  standing.list.external = external.ToRecord(quota.status.used, listed(), leads);
  Draft draft = DraftOf(quota, used, std::move(standing), known().ReservedBy(author_->by));
  draft.taken_back = taken_back;
  return draft;
}

PendingWrite Account::Begin(base::TimePoint now, Draft draft) {
  const std::string name = draft.quota.key.ToString();
  CHECK(gate->busy()) << "a write of " << name << " outside of its gate";
  CHECK(pending_ == nullptr) << "two writes of " << name << " at once";
  CHECK(draft.quota.uid == uid) << "a write of another " << name;
  CHECK(!draft.recounts || !draft.reserved) << "a recount of " << name << " that reserves";
  for (const auto& [resource, version] : known().floor) {
    const auto floor = draft.list.floor.find(resource);
    CHECK(floor != draft.list.floor.end() && !api::IsKnownOlder(floor->second, version))
        << "the floor of " << resource << " falls below " << version << " in " << name;
  }
  draft.began = now;
  draft.list.owner = uid;
  draft.list.used = draft.status.used;
  draft.list.writes = known().writes + 1;
  draft.text = ListOf(draft);
  writes.pace.OnWrite(now, draft.text.size());
  auto pending = std::make_unique<Draft>(std::move(draft));
  pending_ = pending.get();
  return PendingWrite(std::move(pending));
}

Draft Account::End(PendingWrite write) {
  CHECK(gate->busy() && Began(write)) << "the end of a write that did not begin here";
  pending_ = nullptr;
  const std::unique_ptr<Draft> ended = std::move(write.draft_);
  return std::move(*ended);
}

void Account::Commit(base::TimePoint now, PendingWrite write, const quota::Quota& written,
                     const quota::Quota& known, const accounting::Counted& counted) {
  Draft made = End(std::move(write));
  // Without an answer the time says nothing about a round trip.
  if (!made.answer.empty()) writes.turn.OnWritten(now, now - made.began);
  own.TookBack(made.taken_back);
  if (made.reserved) own.Commit(now, std::move(*made.reserved));
  if (!made.recounts) return;
  if (listed() == nullptr) {  // a list records what was written
    external.OnWritten(now, made.began, written.status.used, known.status.used, counted);
  }
  const bool last = written.resource_version == known.resource_version;
  if (last) external.OnFirstCount(now, known.status.used, listed(), counted);
  if (known.cluster) cluster.seen = counted();
  writes.over_since.reset();
}

// What the watch showed during the write may have been an external charge.
void Account::Abort(base::TimePoint now, PendingWrite write, PendingWrite::Outcome outcome,
                    const quota::Quota& known, const accounting::Counted& counted) {
  const Draft draft = End(std::move(write));
  if (listed() == nullptr) external.OnStatus(now, known.status.used, nullptr, false, counted);
  if (outcome == PendingWrite::Outcome::kUnknown) external.OnUnanswered(draft.status.used);
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
    const ReservationList& list = account->second.known();
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
