// One quota recounted by what is observed and what is reserved.

#include <glog/logging.h>

#include <algorithm>
#include <iterator>

#include "pkg/quota/saturating.h"
#include "tests/simulation/reserving_view.h"

namespace simulation {
namespace {

using accounting::ReservationList;
using controllers::UsageSource;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

constexpr base::Duration kPatience = 10s;  // for what is being listed
constexpr base::Duration kCatchesUp = 4s;  // after this process was suspended
constexpr base::Duration kLooksAgain = 100ms;

}  // namespace

ReservingController::Recount ReservingController::Count(const quota::Quota& quota) {
  Recount recount;
  const base::TimePoint now = context_.scheduler->Now();
  std::vector<std::string>& unknown = recount.observed.unknown;
  for (const UsageSource& source : tracker_.SourcesOf(quota.hard)) {
    if (source.tracked == nullptr || !source.tracked->synced()) {
      const bool soon =
          !source.known_absent && !source.trouble && now - source.wanted_since <= kPatience;
      recount.pending = recount.pending || soon;
      unknown.insert(unknown.end(), source.names.begin(), source.names.end());
      if (source.evaluator->classes && !source.known_absent)
        std::ranges::copy(quota::NamesOfClasses(*source.evaluator, quota.hard),
                          std::back_inserter(unknown));
      continue;
    }
    const base::TimePoint until =
        std::max(source.tracked->behind_until(), pulse_.ShownAt(now, kCatchesUp));
    recount.behind_until = std::max(recount.behind_until, until);
    // What has no entry, because the quota is younger, may be stored and not shown.
    if (until > now) std::ranges::copy(source.names, std::back_inserter(recount.observed.partial));
    (void)AddUsage(source, quota, recount.observed);
  }
  for (const std::string& name : unknown) recount.observed.used.Erase(name);
  return recount;
}

// Nobody of us has written this quota yet: what it has above the first count may be anybody's.
void ReservingController::Meet(const quota::Quota& quota, Memory& memory, const Recount& recount) {
  if (memory.met || !recount.observed.unknown.empty()) return;
  memory.met = true;
  quota::ResourceList used;
  for (const auto& [name, amount] : quota.status.used) {
    if (recount.observed.used.Find(name) != nullptr) used.Set(name, amount);
  }
  memory.strangers.Hold(context_.scheduler->Now(), quota::Excess(used, recount.observed.used));
}

// What appeared without an entry may have been granted from what is unassigned, which only its
// writer knows: it will say so soon, and until then `used` need not be raised for it.
bool ReservingController::IsPlausible(const Memory& memory, const quota::ResourceList& used,
                                      const quota::ResourceList& desired) {
  const quota::ResourceList raised = quota::Excess(desired, used);
  return quota::Excess(used, desired).empty() && used.size() == desired.size() &&
         quota::Contains(memory.appeared, raised) &&
         quota::Contains(memory.list->Unassigned(), raised);
}

// When to look again at what is ours, whoever leads.
ReservingController::Outcome ReservingController::Follow(const Memory& memory,
                                                         const Recount& recount) const {
  const base::TimePoint now = context_.scheduler->Now();
  std::optional<base::TimePoint> next;
  if (recount.behind_until > now && recount.behind_until != base::TimePoint::max()) {
    next = recount.behind_until;
  }
  if (memory.burst && !memory.burst->closed) {
    const base::TimePoint ends = memory.burst->at + accounting::kAnswersRepeats + 1ms;
    if (ends > now) next = std::min(next.value_or(ends), ends);
  }
  if (!next) return {};
  return {Outcome::Kind::kRevisit, std::max<base::Duration>(*next - now, 1ms)};
}

// When to look again, if nothing happens.
ReservingController::Outcome ReservingController::Until(const Memory& memory,
                                                        const Recount& recount) const {
  const base::TimePoint now = context_.scheduler->Now();
  std::optional<base::TimePoint> next;
  const auto sooner = [&](base::TimePoint at) { next = std::min(next.value_or(at), at); };
  const ReservationList list = memory.list.value_or(ReservationList());
  for (const accounting::Reservation& entry : list.entries()) {
    const base::TimePoint due = memory.first_seen.Of(entry).value_or(now) + HoldOf(entry);
    sooner(due > now ? due : now + 500ms);
  }
  if (const auto oldest = memory.strangers.Oldest()) {
    const base::TimePoint due = *oldest + StrangersHold();
    sooner(due > now ? due : now + 500ms);
  }
  const Outcome own = Follow(memory, recount);
  if (own.kind == Outcome::Kind::kRevisit) sooner(now + own.after);
  if (memory.over_since) sooner(std::max(*memory.over_since + accounting::kTidies, now + 1ms));
  if (!next) return {};
  return {Outcome::Kind::kRevisit, std::max<base::Duration>(*next - now, 1ms)};
}

base::Task<ReservingController::Outcome> ReservingController::Reconcile(api::ObjectKey key) {
  using Kind = Outcome::Kind;
  const base::TimePoint now = context_.scheduler->Now();
  const quota::Quota* found = store_.Find(key);
  if (found == nullptr) co_return Outcome{};
  Memory& memory = Remember(*found);
  if (memory.gate->busy()) {
    memory.postponed = true;
    co_return Outcome{};
  }
  const Recount recount = Count(*found);
  const bool behind_watch = recount.behind_until > now;
  const bool takes_back = !behind_watch && MustTakeBack(memory);
  const bool leads = !options_.leading || options_.leading();
  if (!leads && takes_back) co_return co_await WriteTakenBack(*found);
  if (!leads) co_return Follow(memory, recount);
  const bool settled =
      found->has_status_hard && found->has_status_used && found->hard == found->status.hard;
  if (recount.pending && !settled) co_return Outcome{Kind::kRevisit, kPatience};
  const QuotaView view(*this, *found);
  Question question = DueToAsk(*found, memory);
  if (!question.empty()) {
    const bool asked = co_await AskServer(*found, std::move(question));
    co_return Outcome{Kind::kRevisit, asked ? base::Duration() : 500ms};
  }
  const bool behind = memory.list && IsBehind(*memory.list, view);
  if (behind && options_.floors && takes_back) co_return co_await WriteTakenBack(*found);
  if (behind && options_.floors) co_return Outcome{Kind::kRevisit, kLooksAgain};
  Meet(*found, memory, recount);
  ReservationList next = memory.list.value_or(ReservationList());
  DropEnded(memory, next);
  std::vector<Withdrawal> withdrawals;
  if (takes_back) {
    accounting::Standing taken{found->status.used, std::move(next)};
    withdrawals = TakeBack(memory, taken);
    next = std::move(taken.list);
  }
  Settle(next, view);
  const bool over = memory.list && next.entries() != memory.list->entries();
  if (!over) memory.over_since.reset();
  if (over && !memory.over_since) memory.over_since = now;
  quota::ResourceList held;
  if (options_.holds_strangers) held = memory.strangers.Held();
  const auto all = held.Add(Outstanding(next, view));
  const auto desired = all ? quota::DesiredStatus(*found, recount.observed, held)
                           : base::Result<quota::QuotaStatus>(all.error());
  if (!desired) co_return Outcome{Kind::kRetry, {}};
  const bool recorded = !memory.list || memory.list->used == found->status.used;
  const bool plausible = !takes_back && settled && memory.list && recorded &&
                         !memory.appeared.empty() &&
                         IsPlausible(memory, found->status.used, desired->used);
  const bool differs = !plausible && (quota::NeedsWrite(*found, *desired) ||
                                      (memory.list && memory.list->used != desired->used));
  const bool tidies = over && (takes_back || now - *memory.over_since >= accounting::kTidies);
  if (!differs && !tidies) co_return Until(memory, recount);
  if (memory.not_before > now) {
    NotTakenBack(*found, std::move(withdrawals));
    co_return Outcome{Kind::kRevisit, memory.not_before - now};
  }
  std::vector<std::string> resources;
  for (const UsageSource& source : tracker_.SourcesOf(found->hard)) {
    resources.push_back(source.evaluator->resource.ToString());
  }
  RaiseFloor(next, resources, view);
  next.strangers = memory.strangers.Held();
  quota::Quota quota = *found;
  quota.status.hard = desired->hard;  // to be written; the guard is the version
  const std::shared_ptr<base::Gate> gate = memory.gate;
  CHECK(gate->TryEnter());
  accounting::Standing standing{desired->used, std::move(next)};
  const auto written =
      co_await Write(quota, std::move(standing), std::nullopt, now + options_.write_timeout);
  gate->Leave();
  if (!written) NotTakenBack(quota, std::move(withdrawals));
  co_return written ? Outcome{Kind::kRevisit, 1ms} : Outcome{Kind::kRetry, {}};
}

}  // namespace simulation
