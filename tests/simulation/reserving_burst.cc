// Bursts, and what is taken back because nobody will use it.

#include <glog/logging.h>

#include <algorithm>
#include <iterator>

#include "tests/simulation/reserving_view.h"

namespace simulation {
namespace {

using accounting::Reservation;
using accounting::ReservationList;
using accounting::Standing;
using std::chrono_literals::operator""ms;

}  // namespace

ReservingController::Own ReservingController::OwnOf(const admission::Grant& grant) const {
  return {.n = 0,
          .grant = grant.number,
          .from = grant.version,
          .stored = grant.charge.base,
          .covers = {.amount = grant.charge.amount, .added = grant.charge.amount},
          .at = context_.scheduler->Now(),
          .relying = 1 + grant.others.size()};
}

quota::ResourceList ReservingController::AdvanceOf(const quota::Quota& quota) const {
  const Memory* const memory = FindMemory(quota);
  if (memory == nullptr || !memory->burst || memory->burst->closed || !memory->list) return {};
  const Burst& burst = *memory->burst;
  const bool young = context_.scheduler->Now() - burst.at <= accounting::kAnswersRepeats;
  const bool there = memory->list->Find(options_.by, burst.n) != nullptr;
  return young && there ? burst.left : quota::ResourceList();
}

bool ReservingController::Draw(const admission::ChargePlan& plan) {
  Memory* const memory = FindMemory(plan.quota);
  const auto added = plan.Added();
  if (memory == nullptr || !added || !quota::Contains(AdvanceOf(plan.quota), *added)) return false;
  Burst& burst = *memory->burst;
  const bool same = std::ranges::all_of(plan.grants, [&](const admission::Grant& grant) {
    return grant.evaluator->resource.ToString() == burst.of;
  });
  if (!same) {
    burst.closed = true;
    return false;
  }
  burst.left = quota::Excess(burst.left, *added);
  for (const admission::Grant& grant : plan.grants) {
    Own own = OwnOf(grant);
    own.n = burst.n;
    own.at = burst.at;
    burst.drawn[grant.uid] = own;
    memory->own[grant.uid].push_back(std::move(own));
  }
  memory->crowd.OnGranted(context_.scheduler->Now(), *added, plan.grants.size());
  return true;
}

// What was granted from the burst gets entries of its own; the rest is given back.
void ReservingController::AssignBurst(const Memory& memory, Standing& standing,
                                      std::vector<std::pair<quota::Uid, Own>>& own) {
  std::vector<std::uint64_t> unassigned;
  for (const Reservation& entry : standing.list.entries()) {
    if (entry.by == options_.by && entry.unassigned > 0) unassigned.push_back(entry.n);
  }
  for (const std::uint64_t n : unassigned) {
    (void)accounting::Withdraw(standing, options_.by, n);
    if (!memory.burst || memory.burst->n != n) continue;  // of a write that seemed to fail
    for (auto [uid, mine] : memory.burst->drawn) {
      mine.n = ++n_;
      Reserve(standing,
              {.by = options_.by,
               .n = n_,
               .of = memory.burst->of,
               .usage = mine.covers.amount,
               .objects = {uid},
               .webhook = webhook_},
              {});
      own.emplace_back(uid, std::move(mine));
    }
  }
}

// For the creations that are to come, if a crowd is there.
std::optional<ReservingController::Burst> ReservingController::NextBurst(
    const admission::ChargePlan& plan, Memory& memory, Standing& standing) {
  const base::TimePoint now = context_.scheduler->Now();
  const std::string of = plan.grants.front().evaluator->resource.ToString();
  const bool creations = std::ranges::all_of(plan.grants, [&](const admission::Grant& grant) {
    return grant.version.empty() && grant.evaluator->resource.ToString() == of;
  });
  const auto added = plan.Added();
  if (!creations || !added) return std::nullopt;
  memory.crowd.OnGranted(now, *added, plan.grants.size());
  quota::NextAdvance next = memory.crowd.Next(now, plan.quota.status.hard, standing.used);
  if (next.usage.empty()) return std::nullopt;
  if (options_.on_advance) options_.on_advance(plan.quota, next.usage);
  Burst burst{.n = ++n_, .of = of, .left = next.usage, .at = now, .drawn = {}};
  Reserve(standing,
          {.by = options_.by,
           .n = burst.n,
           .of = of,
           .usage = std::move(next.usage),
           .objects = {},
           .unassigned = next.creations,
           .webhook = webhook_},
          {});
  return burst;
}

void ReservingController::Release(const api::ObjectKey& key, const quota::Uid& uid,
                                  std::uint64_t grant) {
  const auto memory = memories_.find(key);
  if (memory == memories_.end()) return;
  const auto own = memory->second.own.find(uid);
  if (own == memory->second.own.end()) return;
  const auto mine = std::ranges::find(own->second, grant, &Own::grant);
  if (mine == own->second.end() || mine->relying == 0 || --mine->relying > 0) return;
  memory->second.withdrawals.push_back({mine->n, grant, uid, mine->stored});
  queue_.Add(key);
}

// What nobody is granted, or what was granted from a burst, is yet to be said.
bool ReservingController::MustTakeBack(const Memory& memory) const {
  if (!memory.withdrawals.empty()) return true;
  const base::TimePoint now = context_.scheduler->Now();
  const ReservationList list = memory.list.value_or(ReservationList());
  return std::ranges::any_of(list.entries(), [&](const Reservation& entry) {
    if (entry.by != options_.by || entry.unassigned == 0) return false;
    const bool usable = memory.burst && memory.burst->n == entry.n && !memory.burst->closed;
    return !usable || now - memory.burst->at > accounting::kAnswersRepeats;
  });
}

// The answer is what PutBack() is to be told if it is not written.
std::vector<ReservingController::Withdrawal> ReservingController::TakeBack(Memory& memory,
                                                                           Standing& standing) {
  std::vector<Withdrawal> withdrawals = std::exchange(memory.withdrawals, {});
  std::vector<std::pair<quota::Uid, Own>> own;
  if (memory.burst) memory.burst->closed = true;
  AssignBurst(memory, standing, own);
  for (const Withdrawal& one : withdrawals) {
    // What was granted from a burst has an entry of its own by now.
    const auto drawn = std::ranges::find_if(own, [&](const auto& mine) {
      return mine.first == one.uid && mine.second.grant == one.grant;
    });
    const std::uint64_t n = drawn != own.end() ? drawn->second.n : one.n;
    (void)Withdraw(standing, options_.by, n, one.uid, one.stored);
  }
  return withdrawals;
}

void ReservingController::NotTakenBack(const quota::Quota& quota,
                                       std::vector<Withdrawal> withdrawals) {
  Memory* const memory = FindMemory(quota);
  if (memory != nullptr) std::ranges::move(withdrawals, std::back_inserter(memory->withdrawals));
}

// Whoever granted it.
base::Task<ReservingController::Outcome> ReservingController::WriteTakenBack(quota::Quota quota) {
  Memory& memory = Remember(quota);
  Standing standing{quota.status.used, memory.list.value_or(ReservationList())};
  standing.used = accounting::Decisive(standing.used, standing.list);
  std::vector<Withdrawal> withdrawals = TakeBack(memory, standing);
  if (!memory.list || standing.list.entries() == memory.list->entries()) {
    co_return Outcome{Outcome::Kind::kRevisit, 1ms};
  }
  standing.list.strangers = memory.strangers.Held();
  const std::shared_ptr<base::Gate> gate = memory.gate;
  CHECK(gate->TryEnter());
  ++withdrawing_;
  const auto written = co_await Write(quota, std::move(standing), std::nullopt,
                                      context_.scheduler->Now() + options_.write_timeout);
  --withdrawing_;
  gate->Leave();
  if (written) co_return Outcome{Outcome::Kind::kRevisit, 1ms};
  NotTakenBack(quota, std::move(withdrawals));
  co_return Outcome{Outcome::Kind::kRetry, {}};
}

}  // namespace simulation
