#include "controllers/quota/reservations.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "pkg/accounting/timing.h"

namespace controllers {
namespace {

struct LeaveGate {
  base::Gate& gate;
  ~LeaveGate() { gate.Leave(); }
};

// Takes out what is over of the entries that stood there before. Not sooner: what `used` has for
// them, it has for the same objects still.
void SettleOlder(accounting::ReservationList& list, const std::string& by, std::uint64_t last,
                 const accounting::View& view) {
  std::vector<accounting::Reservation>& entries = list.entries();
  const auto added = std::stable_partition(entries.begin(), entries.end(), [&](const auto& entry) {
    return entry.by != by || entry.n <= last;
  });
  std::vector<accounting::Reservation> mine(std::make_move_iterator(added),
                                            std::make_move_iterator(entries.end()));
  entries.erase(added, entries.end());
  accounting::Settle(list, view);
  std::ranges::move(mine, std::back_inserter(entries));
}

}  // namespace

base::Task<base::Result<void>> Reservations::Refresh(std::string ns, base::TimePoint deadline) {
  if (writer_.Current()) co_return base::Result<void>();
  co_return co_await writer_.Refresh(std::move(ns), deadline);
}

std::vector<admission::BookedQuota> Reservations::Quotas(std::string_view ns) const {
  std::vector<admission::BookedQuota> quotas;
  for (const api::ObjectKey& key : reach_.QuotasOf(ns)) {
    const quota::Quota& quota = *store_.Find(key);
    admission::BookedQuota& booked = quotas.emplace_back();
    booked.quota = &quota;
    const Account* const account = accounts_.Find(quota);
    if (account == nullptr) continue;
    booked.quota = &account->Decisive(quota);
    if (account->list) {
      booked.list = &*account->list;
      booked.burst = account->own.Usable(scheduler_.Now(), accounts_.author, *account->list);
    }
  }
  return quotas;
}

bool Reservations::MayLimit(std::string_view ns) const {
  return !writer_.Current() || !store_.InNamespace(ns).empty();
}

OwnReservations::Own* Reservations::FindOwn(const quota::Quota& quota, const quota::Uid& uid,
                                            std::string_view version) const {
  Account* const account = accounts_.Find(quota);
  if (account == nullptr || !account->list) return nullptr;
  return account->own.Find(scheduler_.Now(), *account->list, accounts_.author, uid, version);
}

const quota::ResourceList* Reservations::Reserved(const quota::Quota& quota, const quota::Uid& uid,
                                                  std::string_view version) const {
  const OwnReservations::Own* const own = FindOwn(quota, uid, version);
  return own != nullptr ? &own->usage : nullptr;
}

std::uint64_t Reservations::Rely(const quota::Quota& quota, const quota::Uid& uid,
                                 std::string_view version) {
  OwnReservations::Own* const own = FindOwn(quota, uid, version);
  if (own == nullptr) return 0;
  ++own->relying;
  return own->grant;
}

bool Reservations::Draw(const admission::ReservePlan& plan) {
  Account* const account = accounts_.Find(plan.quota);
  if (account == nullptr || !account->list) return false;
  return account->own.Draw(scheduler_.Now(), accounts_.author, *account->list, plan);
}

base::Task<base::Result<void>> Reservations::Reserve(admission::ReservePlan plan,
                                                     base::TimePoint deadline) {
  const quota::Quota quota = plan.quota;
  const quota::Quota* known = store_.Find(quota.key);
  if (known == nullptr || known->uid != quota.uid) co_return StatusWriter::Changed(quota);
  const std::shared_ptr<base::Gate> gate = accounts_.Of(*known).gate;
  const bool inside = co_await gate->Enter(deadline);
  if (!inside) {
    co_return base::Error{.code = base::ErrorCode::kTimeout,
                          .message = "quota " + quota.key.ToString() + " is being written"};
  }
  const LeaveGate leave{*gate};
  const auto reserved = co_await ReserveInside(std::move(plan), deadline);
  // Whatever came of it, a recount may have found the gate shut.
  Account* const account = accounts_.Find(quota);
  if (account != nullptr && std::exchange(account->postponed, false)) hooks_.look(quota.key, {});
  co_return reserved;
}

Reservations::Planned Reservations::Plan(const admission::ReservePlan& plan,
                                         const quota::Quota& quota) {
  const base::TimePoint now = scheduler_.Now();
  Author& author = accounts_.author;
  Account& account = accounts_.Of(quota);
  accounting::Standing standing{plan.quota.status.used, account.known()};
  const std::uint64_t last = author.n;
  Planned planned;
  account.own.Close();
  // A watch that is known to be behind lowers nothing.
  planned.assigns = usage_.BehindUntil(quota) <= now;
  if (planned.assigns) account.own.Assign(author, standing, planned.added);
  for (auto& added : OwnReservations::AddEntries(now, plan, author, standing)) {
    planned.added.push_back(std::move(added));
  }
  if (planned.assigns) planned.burst = account.own.NextBurst(now, plan, author, standing);
  SettleOlder(standing.list, author.by, last, QuotaView(tracker_, usage_, quota));
  standing.list.strangers = account.StrangersOf(quota, hooks_.leads());
  if (standing.list.Merge({}, author.by, author.n + 1)) ++author.n;
  // What was merged is granted to nobody.
  const bool merged = planned.burst && standing.list.Find(author.by, planned.burst->n) == nullptr;
  if (merged) planned.burst.reset();
  planned.write = {
      .quota = quota, .hard = quota.status.hard, .standing = std::move(standing), .mark = author.n};
  return planned;
}

base::Task<base::Result<void>> Reservations::ReserveInside(admission::ReservePlan plan,
                                                           base::TimePoint deadline) {
  const quota::Quota* current = store_.Find(plan.quota.key);
  const bool same = current != nullptr && current->uid == plan.quota.uid &&
                    current->resource_version == plan.quota.resource_version;
  if (!same) co_return StatusWriter::Changed(plan.quota);
  const quota::Quota quota = *current;
  Account& remembered = accounts_.Of(quota);
  const quota::ResourceList usable =
      remembered.list ? remembered.own.Usable(scheduler_.Now(), accounts_.author, *remembered.list)
                      : quota::ResourceList();
  if (!plan.burst.empty() && usable != plan.burst) co_return StatusWriter::Changed(quota);
  Planned planned = Plan(plan, quota);
  if (planned.burst) hooks_.on_burst(plan.quota, planned.burst->left);
  const auto written = co_await writer_.Write(std::move(planned.write), deadline);
  if (!written && written.error().Is(base::ErrorCode::kNotFound)) {
    co_return StatusWriter::Changed(quota);
  }
  if (!written) co_return written.error();
  Account* const account = accounts_.Find(quota);
  if (account == nullptr) co_return base::Result<void>();  // gone: nothing limits any more
  const base::TimePoint now = scheduler_.Now();
  account->own.Keep(now, std::move(planned.added));
  if (planned.assigns) account->own.Keep(now, std::move(planned.burst));
  if (const auto ends = account->own.BurstEnds()) hooks_.look(quota.key, *ends - now);
  co_return base::Result<void>();
}

void Reservations::Withdraw(const api::ObjectKey& key, const quota::Uid& uid, std::uint64_t grant) {
  Account* const account = accounts_.Find(key);
  if (account != nullptr && account->own.Release(uid, grant)) hooks_.look(key, {});
}

}  // namespace controllers
