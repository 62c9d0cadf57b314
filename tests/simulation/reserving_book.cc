// Admission's book by reservations.

#include <glog/logging.h>

#include <algorithm>

#include "pkg/api/resource_version.h"
#include "tests/simulation/reserving_view.h"

namespace simulation {
namespace {

using accounting::Reservation;
using accounting::ReservationList;
using accounting::Standing;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

struct LeaveAtEnd {
  base::Gate& gate;
  ~LeaveAtEnd() { gate.Leave(); }
};

}  // namespace

base::Error ReservingController::Changed() {
  return {.code = base::ErrorCode::kConflict, .message = "the quota changed meanwhile"};
}

bool ReservingController::Current() const {
  const informers::ReflectorState& state = quotas_->state();
  if (!store_.synced() || state.trouble) return false;
  const base::TimePoint now = context_.scheduler->Now();
  const base::Duration reopened = informers::WatchGap::kShort + 1s;
  return state.gap.ShownAt(now, 1s) <= now && pulse_.ShownAt(now, reopened) <= now;
}

std::vector<const quota::Quota*> ReservingController::InNamespace(std::string_view ns) const {
  std::vector<const quota::Quota*> quotas;
  for (const api::ObjectKey& key : store_.InNamespace(ns)) {
    const quota::Quota& quota = *store_.Find(key);
    quota::Quota& decisive = decisive_[quota.uid];
    decisive = quota;
    decisive.status.used = accounting::Decisive(quota.status.used, ListOf(quota));
    quotas.push_back(&decisive);
  }
  return quotas;
}

// An entry of our own for the same object and version: young enough to be held as long as one that
// would be written now.
const ReservingController::Own* ReservingController::FindOwn(const quota::Quota& quota,
                                                             const quota::Uid& uid,
                                                             std::string_view version) const {
  const Memory* const memory = FindMemory(quota);
  if (memory == nullptr || !memory->list) return nullptr;
  const auto own = memory->own.find(uid);
  if (own == memory->own.end()) return nullptr;
  const base::TimePoint since = context_.scheduler->Now() - accounting::kAnswersRepeats;
  for (auto mine = own->second.rbegin(); mine != own->second.rend(); ++mine) {
    const bool same = mine->from == version && mine->at >= since && mine->relying > 0;
    if (same && memory->list->Find(options_.by, mine->n) != nullptr) return &*mine;
  }
  return nullptr;
}

const quota::Charge* ReservingController::Covering(const quota::Quota& quota, const quota::Uid& uid,
                                                   std::string_view version) const {
  const Own* const own = FindOwn(quota, uid, version);
  return own != nullptr ? &own->covers : nullptr;
}

std::uint64_t ReservingController::Cover(const quota::Quota& quota, const quota::Uid& uid,
                                         std::string_view version) {
  Own* const own = const_cast<Own*>(FindOwn(quota, uid, version));
  if (own == nullptr) return 0;
  ++own->relying;
  return own->grant;
}

bool ReservingController::HasLater(const quota::Evaluator& evaluator, const quota::Uid& uid,
                                   std::string_view version) const {
  const auto shown = shown_.find(evaluator.resource.ToString());
  if (shown == shown_.end()) return false;
  if (shown->second.gone.contains(uid)) return true;
  const auto at = shown->second.versions.find(uid);
  return at != shown->second.versions.end() &&
         api::IsOlderVersion(version, at->second).value_or(false);
}

const quota::ClassTable* ReservingController::ClassesOf(const quota::Evaluator& evaluator) const {
  return tracker_.BesideOf(evaluator).classes;
}

base::Task<base::Result<void>> ReservingController::Charge(admission::ChargePlan plan,
                                                           base::TimePoint deadline) {
  const quota::Quota quota = plan.quota;
  const quota::Quota* known = store_.Find(quota.key);
  if (known == nullptr || known->uid != quota.uid) co_return Changed();
  const std::shared_ptr<base::Gate> gate = Remember(*known).gate;
  const bool inside = co_await gate->Enter(deadline);
  if (!inside) {
    co_return base::Error{.code = base::ErrorCode::kTimeout, .message = "it is being written"};
  }
  const LeaveAtEnd leave{*gate};
  const auto charged = co_await ChargeInside(std::move(plan), deadline);
  Memory* const memory = FindMemory(quota);
  if (memory != nullptr && std::exchange(memory->postponed, false)) queue_.Add(quota.key);
  co_return charged;
}

// Creations that use the same share an entry. Of calls about other versions each has its own.
void ReservingController::AddEntries(const admission::ChargePlan& plan, Standing& standing,
                                     std::vector<std::pair<quota::Uid, Own>>& own) {
  std::vector<Reservation> creations;
  for (const admission::Grant& grant : plan.grants) {
    const std::string of = grant.evaluator->resource.ToString();
    const quota::ResourceList& usage = grant.charge.amount;
    Own& mine = own.emplace_back(grant.uid, OwnOf(grant)).second;
    if (grant.version.empty()) {
      const auto same = std::ranges::find_if(creations, [&](const Reservation& entry) {
        return entry.of == of && entry.usage == usage &&
               std::ranges::find(entry.objects, grant.uid) == entry.objects.end();
      });
      const bool first = same == creations.end();
      Reservation& entry = first ? creations.emplace_back() : *same;
      if (first) {
        entry = {.by = options_.by,
                 .n = ++n_,
                 .of = of,
                 .usage = usage,
                 .objects = {},
                 .webhook = webhook_};
      }
      entry.objects.push_back(grant.uid);
      mine.n = entry.n;
      continue;
    }
    std::vector<std::string> versions = grant.others;
    versions.push_back(grant.version);
    std::ranges::sort(versions);
    versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
    for (const std::string& version : versions) {
      Reserve(standing,
              {.by = options_.by,
               .n = ++n_,
               .of = of,
               .usage = usage,
               .objects = {grant.uid},
               .from = version,
               .webhook = webhook_},
              quota::Smaller(usage, grant.charge.base));
      if (version == grant.version) mine.n = n_;
    }
  }
  for (Reservation& entry : creations) Reserve(standing, std::move(entry), {});
}

base::Task<base::Result<void>> ReservingController::ChargeInside(admission::ChargePlan plan,
                                                                 base::TimePoint deadline) {
  const quota::Quota* current = store_.Find(plan.quota.key);
  const bool same = current != nullptr && current->uid == plan.quota.uid &&
                    current->resource_version == plan.quota.resource_version;
  if (!same) co_return Changed();
  const quota::Quota quota = *current;
  Memory& remembered = Remember(quota);
  if (!plan.advance.empty() && AdvanceOf(quota) != plan.advance) co_return Changed();
  Standing standing{plan.quota.status.used, remembered.list.value_or(ReservationList())};
  Settle(standing.list, QuotaView(*this, quota));
  std::vector<std::pair<quota::Uid, Own>> own;
  // Whatever comes of the write, it may have been made: nothing more is granted from the burst.
  if (remembered.burst) remembered.burst->closed = true;
  // A watch that is known to be behind lowers nothing.
  const bool assigns = Count(quota).behind_until <= context_.scheduler->Now();
  if (assigns) AssignBurst(remembered, standing, own);
  AddEntries(plan, standing, own);
  std::optional<Burst> burst;
  if (assigns) burst = NextBurst(plan, remembered, standing);
  standing.list.strangers = remembered.strangers.Held();
  if (standing.list.Merge({}, options_.by, n_ + 1)) ++n_;
  const std::uint64_t mark = n_;
  const Reservation* const last = burst ? standing.list.Find(options_.by, burst->n) : nullptr;
  const std::size_t meant = last != nullptr ? last->unassigned : 0;
  const auto written = co_await Write(quota, std::move(standing), mark, deadline);
  Memory* const memory = FindMemory(quota);
  if (written) {
    if (memory == nullptr) co_return base::Result<void>();
    const base::TimePoint now = context_.scheduler->Now();
    std::erase_if(memory->own, [&](const auto& one) { return now - one.second.back().at > 30s; });
    for (auto& [uid, mine] : own) {
      std::vector<Own>& held = memory->own[uid];
      std::erase_if(held, [&](const Own& other) { return other.grant == mine.grant; });
      held.push_back(std::move(mine));
    }
    if (assigns) memory->burst = std::move(burst);
    if (assigns && memory->burst) {
      memory->crowd.Put(now, memory->burst->at, {.usage = memory->burst->left, .creations = meant});
      queue_.AddAfter(quota.key, accounting::kAnswersRepeats + 1ms);
    }
    co_return base::Result<void>();
  }
  const base::Error error = written.error();
  const bool moved = error.Is(base::ErrorCode::kConflict) || error.Is(base::ErrorCode::kNotFound);
  if (!moved) co_return error;
  const auto live = co_await ReadLive(quota, deadline);
  if (!live && !live.error().Is(base::ErrorCode::kNotFound)) co_return live.error();
  co_return Changed();
}

}  // namespace simulation
