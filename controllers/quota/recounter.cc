#include "controllers/quota/recounter.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "pkg/accounting/timing.h"
#include "pkg/quota/cluster/cluster_status.h"

namespace controllers {
namespace {

using accounting::ReservationList;
using accounting::Standing;
using std::chrono_literals::operator""ms;

// What was asked and not answered is asked again after this.
constexpr base::Duration kAsksAfterFailure = 500ms;
constexpr base::Duration kAtOnce = 1ms;

// Inside a gate that nobody else was in.
class Inside {
 public:
  explicit Inside(std::shared_ptr<base::Gate> gate) : gate_(std::move(gate)) {
    CHECK(gate_->TryEnter());
  }
  ~Inside() { gate_->Leave(); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  std::shared_ptr<base::Gate> gate_;
};

}  // namespace

QuotaCount Recounter::Count(const quota::Quota& quota) {
  QuotaCount count = rooms_.usage.Count(quota, options_.first_count_patience);
  rooms_.complaints.Say("count of " + quota.key.ToString(), count.trouble);
  rooms_.reporter.OnCount(quota.key, std::move(count.obstacles), count.observed.unknown);
  return count;
}

base::Task<Recounter::Outcome> Recounter::Reconcile(api::ObjectKey key) {
  const quota::Quota* found = rooms_.store.Find(key);
  if (found == nullptr) co_return Outcome{};  // deleted: nothing of ours remains
  Account& account = rooms_.accounts.Of(*found);
  if (account.gate->busy()) {  // admission writes it; then it looks again
    account.postponed = true;
    co_return Outcome{.result = "postponed"};
  }
  QuotaCount count = Count(*found);
  // A name enters status.hard together with its first count, if that is coming soon.
  const bool settled =
      found->has_status_hard && found->has_status_used && found->hard == found->status.hard;
  const bool waits = count.pending && !settled;
  // A watch that is known to be behind lowers nothing.
  const bool takes_back = rooms_.usage.BehindUntil(*found) <= Now() &&
                          account.own.MustTakeBack(Now(), rooms_.accounts.author, account.known());
  const auto counted = [&] {
    return QuotaView(rooms_.tracker, rooms_.usage, *found).Counted(account.known());
  };
  if (!waits) account.Meet(Now(), *found, counted);
  if (!waits && found->cluster) account.seen = counted();
  account.Lead(Now(), Leading(), *found, counted);
  if (!Leading() && takes_back) co_return co_await WriteTakenBack(*found);
  if (!Leading()) co_return Follow(*found, count);
  if (waits) {
    co_return Outcome{Outcome::Kind::kRevisit, options_.first_count_patience, "postponed"};
  }
  co_return co_await Lead(*found, std::move(count), takes_back);
}

base::Task<Recounter::Outcome> Recounter::Lead(quota::Quota quota, QuotaCount count,
                                               bool takes_back) {
  using Kind = Outcome::Kind;
  const std::string name = quota.key.ToString();
  Account& account = rooms_.accounts.Of(quota);
  const QuotaView view(rooms_.tracker, rooms_.usage, quota);
  const ReservationList* const list = account.list ? &*account.list : nullptr;
  Question question =
      account.questions.Due(Now(), list, account.first_seen, account.strangers, holds_, view);
  if (!question.empty()) co_return co_await Ask(std::move(quota), std::move(question));
  if (list != nullptr && accounting::IsBehind(*list, view)) {
    if (takes_back) co_return co_await WriteTakenBack(std::move(quota));
    co_return Outcome{Kind::kRevisit, accounting::kLooksAgain, "postponed"};
  }
  auto recount = Decide(quota, count, view, takes_back);
  rooms_.complaints.Say("sum of " + name, recount ? "" : recount.error().message);
  if (!recount) co_return Outcome{Kind::kRetry, {}, "error"};
  if (!recount->over) account.over_since.reset();
  if (recount->over && !account.over_since) account.over_since = Now();
  const bool tidies =
      recount->over && (takes_back || Now() - *account.over_since >= accounting::kTidies);
  const base::TimePoint earliest = EarliestWrite(account);
  if (recount->differs || tidies) {
    if (earliest <= Now()) {
      co_return co_await WriteRecount(std::move(*recount), std::move(count));
    }
    account.own.Again(std::move(recount->withdrawals));
    co_return Outcome{Kind::kRevisit, earliest - Now(), "postponed"};
  }
  Outcome outcome = Until(account, count, "unchanged");
  const base::Duration wait = account.further_due - Now();
  const bool sooner = outcome.kind != Kind::kRevisit || wait < outcome.after;
  if (recount->waits && sooner) outcome = {Kind::kRevisit, wait, outcome.result};
  co_return outcome;
}

base::Result<Recounter::Recount> Recounter::Decide(const quota::Quota& quota,
                                                   const QuotaCount& count, const QuotaView& view,
                                                   bool takes_back) {
  Account& account = rooms_.accounts.Of(quota);
  ReservationList next = account.known();
  account.questions.Drop(next);
  Recount recount;
  if (takes_back) {
    Standing taken{quota.status.used, std::move(next)};
    recount.withdrawals = account.own.TakeBack(rooms_.accounts.author, taken);
    next = std::move(taken.list);
  }
  accounting::Settle(next, view);
  recount.over = account.list && next.entries() != account.list->entries();
  quota::ResourceList held = account.strangers.Held();
  auto desired = base::Result<quota::QuotaStatus>(quota::QuotaStatus());
  const auto all = held.Add(accounting::Outstanding(next, view));
  desired = all ? quota::DesiredStatus(Guarded(quota), count.observed, held)
                : base::Result<quota::QuotaStatus>(all.error());
  if (!desired) {
    account.own.Again(std::move(recount.withdrawals));
    return desired.error();
  }
  const bool recorded = !account.list || account.list->used == desired->used;
  const bool plausible = !takes_back && desired->hard == quota.status.hard &&
                         account.IsPlausible(quota.status.used, desired->used);
  recount.differs = !plausible && (quota::NeedsWrite(quota, *desired) || !recorded);
  accounting::RaiseFloor(next, view.floor_resources(), view);
  next.strangers = account.strangers.Held();
  recount.write = {.quota = quota,
                   .hard = std::move(desired->hard),
                   .standing = {std::move(desired->used), std::move(next)}};
  if (rooms_.cluster != nullptr) AddFurther(quota, count, recount);
  return recount;
}

void Recounter::AddFurther(const quota::Quota& quota, const QuotaCount& count, Recount& recount) {
  const quota::QuotaStatus desired{recount.write.hard, recount.write.standing.used};
  recount.write.further = rooms_.cluster->Of(quota, desired, count.observed.unknown,
                                             rooms_.context.scheduler->WallNow());
  const json::Object& further = recount.write.further;
  if (recount.differs || quota::FurtherDifference(quota.further_status, further).empty()) return;
  const bool due = rooms_.accounts.Of(quota).further_due <= Now();
  recount.differs = due || ClusterStatus::IsUrgent(quota.further_status, further);
  recount.waits = !recount.differs;
}

base::TimePoint Recounter::EarliestWrite(const Account& account) const {
  const base::Duration ahead = options_.write_interval * (options_.write_burst - 1);
  return std::max(account.not_before, account.paid_until - ahead);
}

base::Task<Recounter::Outcome> Recounter::WriteRecount(Recount recount, QuotaCount count) {
  const quota::Quota quota = recount.write.quota;
  const quota::ResourceList desired = recount.write.standing.used;
  std::optional<base::Result<quota::Quota>> written;
  {
    Account& account = rooms_.accounts.Of(quota);
    account.paid_until = std::max(account.paid_until, Now()) + options_.write_interval;
    if (rooms_.cluster != nullptr) account.further_due = Now() + rooms_.cluster->PeriodOf(quota);
    const Inside inside(account.gate);
    const base::TimePoint deadline = Now() + options_.write_timeout;
    written = co_await rooms_.writer.Write(std::move(recount.write), deadline);
  }
  // The world moved on while we waited: the quota may be gone, or another one of the same name.
  Account* const account = rooms_.accounts.Find(quota);
  if (!*written) {
    if (account != nullptr) {
      account->own.Again(std::move(recount.withdrawals));
      account->strangers.OnUnanswered(desired);
    }
    const base::Error error = written->error();
    co_return co_await AfterFailedWrite(quota, error);
  }
  const quota::Quota& stored = **written;
  rooms_.complaints.Say("status of " + quota.key.ToString(), "");
  VLOG(1) << "status written quota_api=" << rooms_.api.name << " quota=" << quota.key.ToString()
          << " used=\"" << stored.status.used.ToString() << "\"";
  if (account == nullptr) co_return Outcome{.result = "written"};
  const auto counted = [&] {
    return QuotaView(rooms_.tracker, rooms_.usage, stored).Counted(account->known());
  };
  account->Meet(Now(), stored, counted);
  if (stored.cluster) account->seen = counted();
  NoticeOvertaken(stored);
  account->over_since.reset();
  co_return Until(*account, count, "written");
}

void Recounter::NoticeOvertaken(const quota::Quota& written) {
  Account* const account = rooms_.accounts.Find(written);
  const quota::Quota* known = rooms_.store.Find(written.key);
  if (account == nullptr || known == nullptr || known->uid != written.uid) return;
  if (known->resource_version == written.resource_version) return;
  account->OnOvertaken(Now(), written, *known,
                       [&] { return rooms_.usage.Count(*known, {}).observed.used; });
}

base::Task<Recounter::Outcome> Recounter::WriteTakenBack(quota::Quota quota) {
  using Kind = Outcome::Kind;
  std::optional<base::Result<quota::Quota>> written;
  std::vector<OwnReservations::Withdrawal> withdrawals;
  {
    Account& account = rooms_.accounts.Of(quota);
    Standing standing{account.Decisive(quota).status.used, account.known()};
    withdrawals = account.own.TakeBack(rooms_.accounts.author, standing);
    if (standing.list.entries() == account.known().entries()) {
      co_return Outcome{Kind::kRevisit, kAtOnce, "following"};
    }
    standing.list.strangers = account.StrangersOf(quota, Leading());
    const Inside inside(account.gate);
    StatusWrite write{.quota = quota, .hard = quota.status.hard, .standing = std::move(standing)};
    const base::TimePoint deadline = Now() + options_.write_timeout;
    written = co_await rooms_.writer.Write(std::move(write), deadline);
  }
  if (*written) co_return Outcome{Kind::kRevisit, kAtOnce, "written"};
  Account* const account = rooms_.accounts.Find(quota);
  if (account != nullptr) account->own.Again(std::move(withdrawals));
  const base::Error error = written->error();
  co_return co_await AfterFailedWrite(std::move(quota), error);
}

// Look again, never force. What is stored was read after a conflict; where that failed, the retry
// starts from what the watch has shown.
base::Task<Recounter::Outcome> Recounter::AfterFailedWrite(quota::Quota quota, base::Error error) {
  using Kind = Outcome::Kind;
  if (error.Is(base::ErrorCode::kNotFound)) co_return Outcome{};  // the watch will say so
  if (error.Is(base::ErrorCode::kConflict)) co_return Outcome{Kind::kRetry, {}, "conflict"};
  if (!error.Is(base::ErrorCode::kCancelled)) {
    rooms_.complaints.Say("status of " + quota.key.ToString(), error.message);
  }
  co_return Outcome{Kind::kRetry, {}, "error"};
}

base::Task<Recounter::Outcome> Recounter::Ask(quota::Quota quota, Question question) {
  using Kind = Outcome::Kind;
  const base::TimePoint asked = Now();
  std::map<std::string, Asker::Lists> lists;
  {
    const QuotaView view(rooms_.tracker, rooms_.usage, quota);
    for (const auto& [resource, namespaces] : question.lists) {
      const auto served = view.Served(resource);
      if (served) lists[resource] = {.resource = *served, .namespaces = namespaces};
    }
  }
  const auto answers = co_await asker_.Ask(std::move(lists), asked + options_.write_timeout);
  rooms_.complaints.Say("question about " + quota.key.ToString(),
                        answers ? "" : answers.error().message);
  if (!answers) co_return Outcome{Kind::kRevisit, kAsksAfterFailure, "error"};
  Account* const account = rooms_.accounts.Find(quota);
  const quota::Quota* known = rooms_.store.Find(quota.key);
  if (account == nullptr || known == nullptr) co_return Outcome{};
  const QuotaView view(rooms_.tracker, rooms_.usage, *known);
  const Questions::Outcome outcome = account->questions.Take(
      Now(), question, *answers, asked, account->list ? &*account->list : nullptr,
      account->strangers, holds_, view);
  if (outcome.put_back) rooms_.writer.OnPutBack();
  NoticeExpired(*known, outcome);
  co_return Outcome{Kind::kRevisit, kAtOnce, "postponed"};
}

// The API server's own plugin, where it is on by mistake, adds again what we have reserved: what it
// adds is never used up by an object, while we admit.
void Recounter::NoticeExpired(const quota::Quota& quota, const Questions::Outcome& outcome) {
  if (outcome.ended > 0) {
    options_.admission->OnReservationsExpired(rooms_.api.name, outcome.ended);
  }
  if (outcome.strangers == 0) return;
  rooms_.observer.OnForeignChargesExpired(outcome.strangers);
  const Account* const account = rooms_.accounts.Find(quota);
  const auto last = account != nullptr ? account->own.last_grant() : std::nullopt;
  if (!last || Now() - *last > 2 * holds_.OfStrangers()) return;
  rooms_.complaints.Say(
      "charging of " + quota.key.ToString(),
      "somebody else charges usage that no object accounts for; if the API server's own "
      "quota plugin is on, switch it off or do not enforce this quota API here");
}

// What strangers added is let go by time alone; who begins to lead takes over what the last leader
// held.
Recounter::Outcome Recounter::Follow(const quota::Quota& quota, const QuotaCount& count) {
  Account& account = rooms_.accounts.Of(quota);
  (void)account.strangers.Expire(Now(), holds_.OfStrangers());
  auto next = NextOwn(account, count);
  if (const auto oldest = account.strangers.Oldest()) {
    const base::TimePoint due = *oldest + holds_.OfStrangers();
    next = std::min(next.value_or(due), due);
  }
  if (!next) return {.result = "following"};
  return {Outcome::Kind::kRevisit, std::max(*next - Now(), kAtOnce), "following"};
}

std::optional<base::TimePoint> Recounter::NextOwn(const Account& account,
                                                  const QuotaCount& count) const {
  std::optional<base::TimePoint> next;
  const bool behind = count.behind_until > Now() && count.behind_until != base::TimePoint::max();
  if (behind) next = count.behind_until;
  const auto ends = account.own.BurstEnds();
  if (ends && *ends > Now()) next = std::min(next.value_or(*ends), *ends);
  return next;
}

Recounter::Outcome Recounter::Until(const Account& account, const QuotaCount& count,
                                    std::string_view result) const {
  const base::TimePoint now = Now();
  std::optional<base::TimePoint> next = NextOwn(account, count);
  const auto at_due = [&](base::TimePoint due) {
    if (due <= now) due = now + kAsksAfterFailure;
    next = std::min(next.value_or(due), due);
  };
  if (account.list) {
    for (const accounting::Reservation& entry : account.list->entries()) {
      at_due(account.first_seen.Of(entry).value_or(now) + holds_.Of(entry));
    }
  }
  if (const auto oldest = account.strangers.Oldest()) at_due(*oldest + holds_.OfStrangers());
  if (account.over_since) {
    const base::TimePoint tidies = *account.over_since + accounting::kTidies;
    next = std::min(next.value_or(tidies), tidies);
  }
  if (!next) return {.result = result};
  return {Outcome::Kind::kRevisit, std::max(*next - now, kAtOnce), result};
}

// A name that admission does not guard yet stays out of status.hard: what is enforced is what
// stands there.
quota::Quota Recounter::Guarded(const quota::Quota& quota) const {
  quota::Quota guarded = quota;
  if (!options_.guarded) return guarded;
  for (const UsageSource& source : rooms_.tracker.SourcesOf(quota.hard)) {
    // Nor one whose kind is not served: what counts under other names must not wait for it.
    const bool countable = source.tracked != nullptr || !source.evaluator->classes ||
                           !source.evaluator->classes->usage_of_kind;
    if (countable && options_.guarded(*source.evaluator, quota.key.ns)) continue;
    for (const std::string& name : source.names) {
      if (quota.status.hard.Find(name) == nullptr) guarded.hard.Erase(name);
    }
  }
  return guarded;
}

}  // namespace controllers
