#include "controllers/quota/recounter.h"

#include <glog/logging.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "controllers/quota/events/uncounted.h"
#include "pkg/accounting/timing.h"
#include "pkg/api/resource_version.h"
#include "pkg/quota/cluster_status.h"

namespace controllers {
namespace {

using accounting::ReservationList;
using accounting::Standing;
using std::chrono_literals::operator""ms;

// What is due and cannot end yet is looked at again after this time; what is due for long, less
// often.
constexpr base::Duration kLooksAfterDue = 500ms;
constexpr base::Duration kLooksSeldom = 5'000ms;
constexpr base::Duration kAtOnce = 1ms;
// For a list of a large collection.
constexpr std::chrono::seconds kListsAll{60};

// A recount leaves at least what open entries allow beyond what is observed, under each name that
// is known. Objects may use less than nothing.
void CheckCovers(const quota::ResourceList& used, const quota::ResourceList& open,
                 const quota::Observed& observed) {
  if (open.empty()) return;
  const std::set<std::string_view> unknown(observed.unknown.begin(), observed.unknown.end());
  for (const auto& [name, amount] : open) {
    const quota::Quantity* const counted = observed.used.Find(name);
    const quota::Quantity* const left = used.Find(name);
    const bool known =
        counted != nullptr && left != nullptr && counted->Sign() >= 0 && !unknown.contains(name);
    CHECK(!known || *left >= amount) << "used " << name << "=" << left->ToString()
                                     << " is less than open entries allow: " << amount.ToString();
  }
}

}  // namespace

QuotaCount Recounter::Count(const quota::Quota& quota) {
  QuotaCount count = usage_.Count(quota, options_.first_count_patience);
  quotas_.log().Set("count of", quota.key.ToString(), count.trouble);
  reporter_.OnCount(quota.key, std::move(count.obstacles));
  return count;
}

base::Task<Recounter::Outcome> Recounter::Reconcile(api::ObjectKey key) {
  const quota::Quota* found = quotas_.store().Find(key);
  if (found == nullptr) co_return Outcome{};  // deleted: nothing to do
  Account& account = quotas_.accounts().Of(*found);
  if (account.gate->busy()) {  // admission is writing, and enqueues the quota afterwards
    account.writes.postponed = true;
    co_return Outcome{"postponed"};
  }
  if (account.DefersToLater(scheduler_.Now())) {
    co_return Outcome{"postponed", *account.list.later_until() - scheduler_.Now()};
  }
  QuotaCount count = Count(*found);
  // A name enters status.hard together with its first count, if the count is expected soon.
  const bool settled =
      found->has_status_hard && found->has_status_used && found->hard == found->status.hard;
  const bool waits = count.pending && !settled;
  // Nothing is lowered while a watch is known to lag.
  const bool takes_back = account.own.MustTakeBack(scheduler_.Now(), account.known()) &&
                          usage_.BehindUntil(*found) <= scheduler_.Now();
  const auto counted = [&] {
    return QuotaView(usage_, *found).Counted(count.observed.used, account.known());
  };
  const quota::ResourceList& used = found->status.used;
  if (!waits) account.external.OnFirstCount(scheduler_.Now(), used, account.listed(), counted);
  if (!waits && found->cluster) account.cluster.seen = counted();
  account.external.Lead(scheduler_.Now(), options_.Leads(), used, account.listed(), counted);
  if (account.list.lost()) co_return co_await WriteList(*found, false);
  if (!options_.Leads() && takes_back) co_return co_await WriteList(*found, true);
  if (!options_.Leads()) {
    // Without asking the server. A new leader holds them again.
    account.external.Lapse(scheduler_.Now(), quotas_.accounts().hold);
    co_return LookAt(NextLook(account, count, false), "following");
  }
  if (waits) co_return Outcome{"postponed", options_.first_count_patience};
  co_return co_await Lead(*found, std::move(count), takes_back);
}

base::Task<Recounter::Outcome> Recounter::Lead(quota::Quota quota, QuotaCount count,
                                               bool takes_back) {
  Account& account = quotas_.accounts().Of(quota);
  const QuotaView view = QuotaView(usage_, quota);
  const ReservationList* const list = account.listed();
  const Questions::Outcome settled = account.questions.Settle(
      scheduler_.Now(), list, account.first_seen, account.external, holds(), view);
  NoticeExpired(quota, account, settled);
  Question question = account.questions.Due(scheduler_.Now(), list, account.first_seen,
                                            account.external, holds(), view);
  if (!question.empty()) co_return co_await Ask(std::move(quota), std::move(question));
  // Our watches have not reached the floor of an earlier recount, so our count may miss objects.
  // Taking back our own grants needs no count.
  if (list != nullptr && accounting::IsBehind(*list, view)) {
    if (takes_back) co_return co_await WriteList(std::move(quota), true);
    co_return Outcome{"postponed", accounting::kLooksAgain};
  }
  const base::TimePoint earliest = EarliestWrite(account);
  const bool may_write = earliest <= scheduler_.Now();
  Recount recount = Plan(quota, account, count, view, takes_back, may_write);
  if (!recount.over) account.writes.over_since.reset();
  if (recount.over && !account.writes.over_since) account.writes.over_since = scheduler_.Now();
  const bool tidies =
      recount.over &&
      (takes_back || scheduler_.Now() - *account.writes.over_since >= accounting::kTidies);
  // Any write removes ended entries. If there is no other write, kTidies delays one that only
  // removes them.
  if (recount.differs || tidies) {
    if (may_write) {
      recount.draft.quota = std::move(quota);
      co_return co_await WriteRecount(std::move(recount), std::move(count));
    }
    co_return Outcome{"postponed", earliest - scheduler_.Now()};
  }
  co_return LookAt(std::min(NextLook(account, count, true), recount.waits_until), "unchanged");
}

Recounter::Recount Recounter::Plan(const quota::Quota& quota, Account& account,
                                   const QuotaCount& count, const QuotaView& view, bool takes_back,
                                   bool may_write) const {
  Standing next{quota.status.used, account.known()};
  account.questions.Drop(next.list);
  Recount recount;
  if (takes_back) recount.draft.taken_back = account.own.TakeBack(next);
  accounting::Settle(next.list, view);
  // The write that ends a burst comes soon, and removes other entries, too.
  const bool ends = takes_back || !next.list.HasUnassigned();
  recount.over =
      ends && account.listed() != nullptr && next.list.entries() != account.known().entries();
  const quota::ResourceList open = accounting::Outstanding(next.list, view);
  quota::ResourceList held = account.external.Held();
  held.Add(open);
  const Pending pending = PendingNames(quota);
  const auto in_force = options_.guarded ? std::optional(InForce(quota, pending)) : std::nullopt;
  quota::QuotaStatus desired =
      quota::DesiredStatus(in_force ? *in_force : quota, count.observed, held);
  HoldOut(quota, desired);
  for (const auto& [name, amount] : desired.used) {
    CHECK(desired.hard.Find(name) != nullptr) << "used has " << name << ", which is not limited";
  }
  CheckCovers(desired.used, open, count.observed);
  const bool recorded = account.listed() == nullptr || account.known().used == desired.used;
  const bool plausible = !takes_back && quota.garbage.why.empty() &&
                         desired.hard == quota.status.hard &&
                         account.IsPlausible(quota.status.used, desired.used);
  recount.differs = !plausible && (quota::NeedsWrite(quota, desired) || !recorded);
  if (!quota.reservations.empty()) accounting::RaiseFloor(next.list, view.floor_resources(), view);
  next.list.external = account.external.Held();
  recount.draft.status = std::move(desired);
  recount.draft.list = std::move(next.list);
  recount.draft.recounts = true;
  const bool postponed = recount.differs && !may_write;
  if (cluster_ != nullptr && !postponed) {
    AddFurther(quota, account, count, pending.unguarded, recount);
  }
  return recount;
}

void Recounter::AddFurther(const quota::Quota& quota, Account& account, const QuotaCount& count,
                           const std::vector<std::string>& unguarded, Recount& recount) const {
  const base::TimePoint now = scheduler_.Now();
  recount.draft.further =
      cluster_->Of(quota, recount.draft.status, count.observed.unknown, unguarded,
                   {.now = now, .wall = scheduler_.WallNow()}, account.cluster.missing_since);
  const json::Object& further = recount.draft.further;
  if (recount.differs) return;
  if (!quota::FurtherDifference(quota.further_status, further).empty()) {
    recount.differs = account.cluster.further_due <= now || ClusterStatus::IsUrgent(quota, further);
    if (!recount.differs) recount.waits_until = account.cluster.further_due;
  }
  if (!account.cluster.missing_since) return;
  const base::TimePoint lasts = *account.cluster.missing_since + ClusterStatus::kLasts;
  if (lasts > now) recount.waits_until = std::min(recount.waits_until, lasts);
}

// A name that can never be counted as things are would refuse everything. An unreadable name stays:
// its object is there to be repaired, and it refuses until then.
void Recounter::HoldOut(const quota::Quota& quota, quota::QuotaStatus& desired) const {
  if (desired.used.size() == desired.hard.size()) return;  // all are counted
  std::set<std::string> out;
  for (const UsageSource& source : tracker_.SourcesOf(quota.hard)) {
    for (std::string& name : HeldOut(source, desired.used)) {
      const bool unreadable = std::ranges::binary_search(quota.unreadable.names, name);
      if (!unreadable) out.insert(std::move(name));
    }
  }
  desired.hard.EraseIf([&](const auto& limit) { return out.contains(limit.first); });
}

Recounter::Pending Recounter::PendingNames(const quota::Quota& quota) const {
  Pending pending;
  if (!options_.guarded) return pending;
  const auto add = [](std::vector<std::string>& names, const UsageSource& source) {
    names.insert(names.end(), source.names.begin(), source.names.end());
  };
  for (const UsageSource& source : tracker_.SourcesOf(quota.hard)) {
    // A name whose kind is not served stays out as well. Objects that count under other names must
    // not wait for it.
    const bool countable = source.tracked != nullptr || !source.evaluator->classes ||
                           !source.evaluator->classes->usage_of_kind;
    if (!countable) {
      add(pending.not_served, source);
    } else if (!options_.guarded(*source.evaluator, quota.key)) {
      add(pending.unguarded, source);
    }
  }
  return pending;
}

// A name in status.hard is enforced. One that was enforced stays: rules that are still to be stored
// for further namespaces must not end the limit in the others.
quota::Quota Recounter::InForce(const quota::Quota& quota, const Pending& pending) {
  quota::Quota in_force = quota;
  std::set<std::string_view> waiting(pending.not_served.begin(), pending.not_served.end());
  waiting.insert(pending.unguarded.begin(), pending.unguarded.end());
  in_force.hard.EraseIf([&](const auto& limit) {
    return waiting.contains(limit.first) && quota.status.hard.Find(limit.first) == nullptr;
  });
  return in_force;
}

base::TimePoint Recounter::EarliestWrite(const Account& account) const {
  const base::Duration ahead = options_.write_interval * (options_.write_burst - 1);
  const StatusWrites& writes = account.writes;
  return std::max({writes.not_before, writes.paid_until - ahead, writes.pace.ForRecount(),
                   writes.turn.Next(scheduler_.Now())});
}

base::TimePoint Recounter::PaidUntil(const Account& account) const {
  return std::max(account.writes.paid_until, scheduler_.Now()) + options_.write_interval;
}

base::Task<Recounter::Outcome> Recounter::WriteRecount(Recount recount, QuotaCount count) {
  const quota::Quota quota = recount.draft.quota;
  Account& writing = quotas_.accounts().Of(quota);
  writing.writes.paid_until = PaidUntil(writing);
  const auto written = co_await Write(std::move(recount.draft));
  if (!written) co_return AfterFailedWrite(quota.key, written.error());
  VLOG(1) << "status written quota_api=" << quotas_.api().name << " quota=" << quota.key.ToString()
          << " used=\"" << written->status.used.ToString() << "\"";
  // During the write the quota may have been deleted, or replaced by another one of the same name.
  Account* const account = quotas_.accounts().Find(quota);
  if (account == nullptr) co_return Outcome{"written"};
  if (cluster_ != nullptr) {
    account->cluster.further_due = scheduler_.Now() + cluster_->PeriodOf(quota);
  }
  co_return LookAt(NextLook(*account, count, true), "written");
}

base::Task<Recounter::Outcome> Recounter::WriteList(quota::Quota quota, bool takes_back) {
  Account& account = quotas_.accounts().Of(quota);
  const base::TimePoint earliest =
      takes_back ? account.writes.pace.ForRecount() : EarliestWrite(account);
  if (earliest > scheduler_.Now()) co_return Outcome{"postponed", earliest - scheduler_.Now()};
  Draft draft = account.StoreAgain(quota, takes_back, options_.Leads());
  const bool same = draft.list.entries() == account.known().entries();
  if (takes_back && same) co_return Outcome{"following", kAtOnce};
  if (!takes_back) account.writes.paid_until = PaidUntil(account);
  const auto written = co_await Write(std::move(draft));
  if (written) co_return Outcome{"written", kAtOnce};
  co_return AfterFailedWrite(quota.key, written.error());
}

base::Task<base::Result<quota::Quota>> Recounter::Write(Draft draft) {
  Account& account = quotas_.accounts().Of(draft.quota);
  const std::shared_ptr<base::Gate> gate = account.gate;  // the account may be gone afterwards
  CHECK(gate->TryEnter());
  const base::LeavesGate leave{*gate};
  const base::TimePoint deadline = scheduler_.Now() + options_.write_timeout;
  PendingWrite write = account.Begin(scheduler_.Now(), std::move(draft));
  co_return co_await writer_.Write(std::move(write), deadline);
}

// A failed write is decided again from new state, never forced. After a conflict the stored quota
// was read, or the watch has shown another version. If a read failed, the retry uses what the watch
// has shown.
Recounter::Outcome Recounter::AfterFailedWrite(const api::ObjectKey& key,
                                               const base::Error& error) {
  if (error.Is(base::ErrorCode::kNotFound)) return {};  // the watch will show the deletion
  if (error.Is(base::ErrorCode::kConflict)) return {.result = "conflict", .failed = true};
  const bool gone = quotas_.store().Find(key) == nullptr;
  if (!gone && !error.Is(base::ErrorCode::kCancelled)) {
    quotas_.log().Set("status of", key.ToString(), error.message);
  }
  return {.result = "error", .failed = true};
}

base::Task<Recounter::Outcome> Recounter::Ask(quota::Quota quota, Question question) {
  const base::TimePoint asked = scheduler_.Now();
  const base::Duration patience =
      question.large ? base::Duration(kListsAll) : base::Duration(options_.write_timeout);
  std::map<std::string, std::string> shown;
  {
    const QuotaView view = QuotaView(usage_, quota);
    for (const auto& [resource, lists] : question.lists) {
      shown[resource] = view.ShownVersion(resource);
    }
  }
  const Asker::Told told = co_await asker_.Ask(question.lists, patience);
  if (told.busy) co_return Outcome{"postponed", accounting::kAsksAgain};
  // An answer that is older than what our own watch had shown before proves that the server was
  // restored. A floor proves nothing: everybody who may write the quota can write one.
  const bool put_back = std::ranges::any_of(told.answers, [&](const auto& answer) {
    return api::IsKnownOlder(answer.second.version, shown[answer.first]);
  });
  if (put_back) quotas_.OnPutBack();
  Account* const account = quotas_.accounts().Find(quota);
  if (account == nullptr) co_return Outcome{};
  quotas_.log().Set("question about", quota.key.ToString(), told.trouble);
  const quota::Quota* const stored = quotas_.store().Find(quota.key);
  CHECK(stored != nullptr) << "an account of a quota that is gone: " << quota.key.ToString();
  const quota::Quota& known = *stored;
  const QuotaView view = QuotaView(usage_, known);
  const bool same = known.reservations == quota.reservations;
  const Questions::Outcome outcome = account->questions.Take(
      scheduler_.Now(), question, told.answers, asked, account->list.Find(), same, view);
  if (outcome.replaced) account->list.OnRepaired();
  for (const auto& [resource, version] : outcome.unseen) tracker_.Await(resource, version);
  NoticeExpired(known, *account, outcome);
  co_return Outcome{"postponed", kAtOnce};
}

// If the API server's own plugin is on by mistake, it adds again what we have reserved. While we
// admit, no object uses that second charge, so it expires here.
void Recounter::NoticeExpired(const quota::Quota& quota, const Account& account,
                              const Questions::Outcome& outcome) {
  if (outcome.ended > 0) {
    options_.admission->OnReservationsExpired(quotas_.api().name, outcome.ended);
  }
  if (outcome.external == 0) return;
  observer_.OnExternalChargesExpired(outcome.external);
  const auto last = account.own.last_grant();
  if (!last || scheduler_.Now() - *last > 2 * quotas_.accounts().hold) return;
  quotas_.log().Set(
      "charging of", quota.key.ToString(),
      "somebody else charges usage that no object accounts for; if the API server's own "
      "quota plugin is on, switch it off or do not enforce this quota API here");
}

Recounter::Outcome Recounter::LookAt(base::TimePoint next, std::string_view result) const {
  if (next == base::TimePoint::max()) return {result};
  return {result, next - scheduler_.Now()};
}

base::TimePoint Recounter::NextLook(const Account& account, const QuotaCount& count,
                                    bool leads) const {
  const base::TimePoint now = scheduler_.Now();
  // A watch that has caught up must not wait for another one that fails.
  base::TimePoint next = count.catches_up_at;
  const auto at_due = [&](base::TimePoint due) {
    // Nothing can be asked about a kind that is not served, perhaps for ever.
    const base::Duration seldom =
        std::clamp<base::Duration>((now - due) / 16, kLooksAfterDue, kLooksSeldom);
    next = std::min(next, due > now ? due : now + seldom);
  };
  const auto ends = account.own.BurstEnds();
  if (ends && *ends > now) {
    at_due(*ends);
  } else if (count.behind_until <= now && account.own.MustTakeBack(now, account.known())) {
    at_due(now + accounting::kLooksAgain);  // a burst may end during a write, when nobody looks
  }
  if (const auto oldest = account.external.Oldest()) at_due(*oldest + quotas_.accounts().hold);
  if (leads) {
    for (const accounting::Reservation& entry : account.known().entries()) {
      at_due(account.first_seen.Of(entry).value_or(now) + holds().Of(entry));
    }
    if (account.writes.over_since)
      next = std::min(next, *account.writes.over_since + accounting::kTidies);
  }
  return std::max(next, now + kAtOnce);
}

}  // namespace controllers
