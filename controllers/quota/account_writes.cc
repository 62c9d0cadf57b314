// The writes of a quota's status: how they are drafted, and what their outcome changes.

#include <glog/logging.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "controllers/quota/account.h"
#include "pkg/api/resource_version.h"

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

}  // namespace

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
    external.OnWritten(written.status.used);
    external.OnStatus(now, known.status.used, nullptr, false, counted);
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

}  // namespace controllers
