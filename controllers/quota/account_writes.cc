// The writes of a quota's status: how they are drafted, and what their outcome changes.

#include <glog/logging.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "controllers/quota/account.h"

namespace controllers {
namespace {

using accounting::ReservationList;
using accounting::Standing;

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

Draft DraftOf(const quota::Quota& quota, Standing standing) {
  return {.quota = quota,
          .status = {quota.status.hard, std::move(standing.used)},
          .list = std::move(standing.list)};
}

}  // namespace

PendingWrite::~PendingWrite() {
  CHECK(state_ == nullptr) << "nobody told the account of " << state_->draft.quota.key.ToString()
                           << " what became of a write";
}

Draft Account::Reserve(base::TimePoint now, const admission::ReservePlan& plan,
                       const quota::Quota& quota, const QuotaView& view, bool lags, bool leads) {
  Standing standing{plan.quota.status.used, known()};
  own.Assign(standing);
  const std::uint64_t last = author_->n;
  OwnReservations::Reserved reserved{.added = own.AddEntries(now, plan, standing)};
  if (!lags) {
    reserved.burst = own.NextBurst(now, plan, standing);
  } else {
    // The plan counts the rest of the burst as free, so the rest is released only as far as the new
    // grants need it.
    standing.used = quota::Larger(standing.used, plan.quota.status.used);
  }
  DropOlder(standing.list, author_->by, last, view);
  // The first list says, through `strangers`, how much of `used` our view has shown.
  if (!list) accounting::RaiseFloor(standing.list, view.floor_resources(), view);
  standing.list.strangers = StrangersOf(quota, leads);
  if (standing.list.Merge({}, author_->by, author_->n + 1)) ++author_->n;
  // A burst that was merged into another entry cannot be granted from.
  const auto& burst = reserved.burst;
  if (burst && standing.list.Find(author_->by, burst->n) == nullptr) reserved.burst.reset();
  Draft draft = DraftOf(quota, std::move(standing));
  draft.reserved = std::move(reserved);
  return draft;
}

std::optional<Draft> Account::TakeBack(const quota::Quota& quota, bool leads) {
  Standing standing{Decisive(quota).status.used, known()};
  const std::size_t taken_back = own.TakeBack(standing);
  if (standing.list.entries() == known().entries()) return std::nullopt;
  standing.list.strangers = StrangersOf(quota, leads);
  Draft draft = DraftOf(quota, std::move(standing));
  draft.taken_back = taken_back;
  return draft;
}

Draft Account::StoreAgain(const quota::Quota& quota, bool leads) const {
  Standing standing{Decisive(quota).status.used, known()};
  standing.list.strangers = StrangersOf(quota, leads);
  return DraftOf(quota, std::move(standing));
}

PendingWrite Account::Begin(base::TimePoint now, Draft draft) {
  CHECK(gate->busy()) << "a write outside of the gate";
  CHECK(pending_ == nullptr) << "two writes of " << draft.quota.key.ToString() << " at once";
  draft.list.owner = uid;
  draft.list.used = draft.status.used;
  draft.list.writes = known().writes + 1;
  std::string text = ListOf(draft);
  pace.OnWrite(now, text.size());
  auto state = std::make_unique<PendingWrite::State>(
      PendingWrite::State{.draft = std::move(draft), .text = std::move(text), .began = now});
  pending_ = state.get();
  return PendingWrite(std::move(state));
}

std::unique_ptr<PendingWrite::State> Account::End(PendingWrite write) {
  CHECK(Began(write)) << "the end of a write that another account began";
  pending_ = nullptr;
  return std::move(write.state_);
}

void Account::Commit(base::TimePoint now, PendingWrite write, const quota::Quota& written,
                     const quota::Quota& known, const accounting::Strangers::Counted& counted) {
  const auto made = End(std::move(write));
  // Without an answer the time says nothing about a round trip.
  if (!made->answer.empty()) turn.OnWritten(now, now - made->began);
  own.TookBack(made->draft.taken_back);
  if (made->draft.reserved) own.Commit(now, std::move(*made->draft.reserved));
  if (!made->draft.recounts) return;
  const bool last = written.resource_version == known.resource_version;
  // A list records what was written.
  if (!list) strangers.OnWritten(written.status.used);
  if (!list && !last) strangers.OnStatus(now, known.status.used, nullptr, false, counted);
  if (last) Meet(now, known, counted);
  if (known.cluster) seen = counted();
  over_since.reset();
}

// What the watch showed during the write may have been a stranger's.
void Account::Abort(base::TimePoint now, PendingWrite write, PendingWrite::Outcome outcome,
                    const quota::Quota& known, const accounting::Strangers::Counted& counted) {
  const auto left = End(std::move(write));
  if (!list) strangers.OnStatus(now, known.status.used, nullptr, false, counted);
  if (outcome == PendingWrite::Outcome::kUnknown) strangers.OnUnanswered(left->draft.status.used);
}

}  // namespace controllers
