#include "controllers/quota/recounter.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "pkg/accounting/timing.h"

namespace controllers {
namespace {

using accounting::ReservationList;
using accounting::Standing;
using std::chrono_literals::operator""ms;

// A question without an answer is asked again after this time.
constexpr base::Duration kAsksAfterFailure = 500ms;
constexpr base::Duration kAtOnce = 1ms;

// Holds a gate that is free.
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
  rooms_.complaints.Say("count of", quota.key.ToString(), count.trouble);
  rooms_.reporter.OnCount(quota.key, std::move(count.obstacles), count.observed.unknown);
  return count;
}

base::Task<Recounter::Outcome> Recounter::Reconcile(api::ObjectKey key) {
  const quota::Quota* found = rooms_.store.Find(key);
  if (found == nullptr) co_return Outcome{};  // deleted: nothing to do
  Account& account = rooms_.accounts.Of(*found);
  if (account.gate->busy()) {  // admission is writing, and enqueues the quota afterwards
    account.postponed = true;
    co_return Outcome{.result = "postponed"};
  }
  QuotaCount count = Count(*found);
  // A name enters status.hard together with its first count, if the count is expected soon.
  const bool settled =
      found->has_status_hard && found->has_status_used && found->hard == found->status.hard;
  const bool waits = count.pending && !settled;
  // Nothing is lowered while a watch is known to lag.
  const bool takes_back =
      account.own.MustTakeBack(Now(), account.known()) && rooms_.usage.BehindUntil(*found) <= Now();
  const auto counted = [&] {
    return QuotaView(rooms_.tracker, rooms_.usage, *found)
        .Counted(count.observed.used, account.known());
  };
  if (!waits) account.Meet(Now(), *found, counted);
  if (!waits && found->cluster) account.seen = counted();
  account.Lead(Now(), options_.Leads(), *found, counted);
  if (account.lost) co_return co_await StoreAgain(*found);
  if (!options_.Leads() && takes_back) co_return co_await WriteTakenBack(*found);
  if (!options_.Leads()) co_return Follow(*found, count);
  if (waits) {
    co_return Outcome{Outcome::Kind::kRevisit, options_.first_count_patience, "postponed"};
  }
  co_return co_await Lead(*found, std::move(count), takes_back);
}

base::Task<Recounter::Outcome> Recounter::Lead(quota::Quota quota, QuotaCount count,
                                               bool takes_back) {
  using Kind = Outcome::Kind;
  Account& account = rooms_.accounts.Of(quota);
  const QuotaView view(rooms_.tracker, rooms_.usage, quota);
  const ReservationList* const list = account.list ? &*account.list : nullptr;
  Question question =
      account.questions.Due(Now(), list, account.first_seen, account.strangers, holds_, view);
  if (!question.empty()) co_return co_await Ask(std::move(quota), std::move(question));
  // Our watches have not reached the floor of an earlier recount, so our count may miss objects.
  // Taking back our own grants needs no count.
  if (list != nullptr && accounting::IsBehind(*list, view)) {
    if (takes_back) co_return co_await WriteTakenBack(std::move(quota));
    co_return Outcome{Kind::kRevisit, accounting::kLooksAgain, "postponed"};
  }
  auto recount = planner_.Plan(quota, account, count, view, takes_back);
  rooms_.complaints.Say("sum of", quota.key.ToString(), recount ? "" : recount.error().message);
  if (!recount) co_return Outcome{Kind::kRetry, {}, "error"};
  if (!recount->over) account.over_since.reset();
  if (recount->over && !account.over_since) account.over_since = Now();
  const bool tidies =
      recount->over && (takes_back || Now() - *account.over_since >= accounting::kTidies);
  const base::TimePoint earliest = EarliestWrite(account);
  // Any write removes ended entries. If there is no other write, kTidies delays one that only
  // removes them.
  if (recount->differs || tidies) {
    if (earliest <= Now()) {
      recount->write.quota = std::move(quota);
      co_return co_await WriteRecount(std::move(*recount), std::move(count));
    }
    account.own.Again(std::move(recount->withdrawals));
    co_return Outcome{Kind::kRevisit, earliest - Now(), "postponed"};
  }
  Outcome outcome = Until(account, count, "unchanged");
  if (!recount->waits) co_return outcome;
  const base::Duration wait = *recount->waits - Now();
  const bool sooner = outcome.kind != Kind::kRevisit || wait < outcome.after;
  if (sooner) outcome = {Kind::kRevisit, wait, outcome.result};
  co_return outcome;
}

base::TimePoint Recounter::EarliestWrite(const Account& account) const {
  const base::Duration ahead = options_.write_interval * (options_.write_burst - 1);
  return std::max(account.not_before, account.paid_until - ahead);
}

base::TimePoint Recounter::PaidUntil(const Account& account) const {
  return std::max(account.paid_until, Now()) + options_.write_interval;
}

base::Task<Recounter::Outcome> Recounter::WriteRecount(Recount recount, QuotaCount count) {
  const api::ObjectKey key = recount.write.quota.key;
  const std::string uid = recount.write.quota.uid;
  const quota::ResourceList desired = recount.write.standing.used;
  std::optional<base::Result<quota::Quota>> written;
  {
    const quota::Quota& quota = recount.write.quota;
    Account& account = rooms_.accounts.Of(quota);
    account.paid_until = PaidUntil(account);
    if (rooms_.cluster != nullptr) account.further_due = Now() + rooms_.cluster->PeriodOf(quota);
    const Inside inside(account.gate);
    const base::TimePoint deadline = Now() + options_.write_timeout;
    written = co_await rooms_.writer.Write(std::move(recount.write), deadline);
  }
  // During the write the quota may have been deleted, or replaced by another one of the same name.
  Account* const account = rooms_.accounts.Find(key, uid);
  NoticeWritten(*written ? &**written : nullptr, key, uid);
  if (!*written) {
    if (account != nullptr) {
      account->own.Again(std::move(recount.withdrawals));
      // The write may have been made: `used` may be at `desired` already. After a conflict it was
      // not made.
      const bool unknown = !written->error().Is(base::ErrorCode::kConflict);
      if (unknown) account->strangers.OnUnanswered(desired);
    }
    co_return AfterFailedWrite(key, written->error());
  }
  const quota::Quota& stored = **written;
  rooms_.complaints.Say("status of", key.ToString(), "");
  VLOG(1) << "status written quota_api=" << rooms_.api.name << " quota=" << key.ToString()
          << " used=\"" << stored.status.used.ToString() << "\"";
  if (account == nullptr) co_return Outcome{.result = "written"};
  const auto counted = [&] {
    return QuotaView(rooms_.tracker, rooms_.usage, stored).Counted(account->known());
  };
  // If the watch has shown a later version already, Reconcile() looks at that one.
  const quota::Quota* const known = rooms_.store.Find(key);
  const bool last = known != nullptr && known->resource_version == stored.resource_version;
  if (last) account->Meet(Now(), stored, counted);
  if (stored.cluster) account->seen = counted();
  account->over_since.reset();
  co_return Until(*account, count, "written");
}

void Recounter::NoticeWritten(const quota::Quota* written, const api::ObjectKey& key,
                              const std::string& uid) {
  Account* const account = rooms_.accounts.Find(key, uid);
  const quota::Quota* known = rooms_.store.Find(key);
  if (account == nullptr || known == nullptr || known->uid != uid) return;
  account->OnWritten(Now(), written, *known,
                     [&] { return rooms_.usage.Count(*known, {}).observed.used; });
}

base::Task<Recounter::Outcome> Recounter::WriteTakenBack(quota::Quota quota) {
  using Kind = Outcome::Kind;
  std::optional<base::Result<quota::Quota>> written;
  std::vector<OwnReservations::Withdrawal> withdrawals;
  {
    Account& account = rooms_.accounts.Of(quota);
    Standing standing{account.Decisive(quota).status.used, account.known()};
    withdrawals = account.own.TakeBack(standing);
    if (standing.list.entries() == account.known().entries()) {
      co_return Outcome{Kind::kRevisit, kAtOnce, "following"};
    }
    StatusWrite write = Listed(quota, std::move(standing));
    const Inside inside(account.gate);
    written = co_await rooms_.writer.Write(std::move(write), Now() + options_.write_timeout);
  }
  if (*written) co_return Outcome{Kind::kRevisit, kAtOnce, "written"};
  Account* const account = rooms_.accounts.Find(quota);
  if (account != nullptr) account->own.Again(std::move(withdrawals));
  co_return AfterFailedWrite(quota.key, written->error());
}

base::Task<Recounter::Outcome> Recounter::StoreAgain(quota::Quota quota) {
  using Kind = Outcome::Kind;
  Account& account = rooms_.accounts.Of(quota);
  const base::TimePoint earliest = EarliestWrite(account);
  if (earliest > Now()) co_return Outcome{Kind::kRevisit, earliest - Now(), "postponed"};
  account.paid_until = PaidUntil(account);
  StatusWrite write = Listed(quota, {account.Decisive(quota).status.used, account.known()});
  const Inside inside(account.gate);
  const auto written =
      co_await rooms_.writer.Write(std::move(write), Now() + options_.write_timeout);
  if (written) co_return Outcome{Kind::kRevisit, kAtOnce, "written"};
  co_return AfterFailedWrite(quota.key, written.error());
}

StatusWrite Recounter::Listed(const quota::Quota& quota, Standing standing) {
  standing.list.strangers = rooms_.accounts.Of(quota).StrangersOf(quota, options_.Leads());
  return {.quota = quota, .hard = quota.status.hard, .standing = std::move(standing)};
}

// A failed write is decided again from new state, never forced. After a conflict the stored quota
// was read. If that read failed, the retry uses what the watch has shown.
Recounter::Outcome Recounter::AfterFailedWrite(const api::ObjectKey& key,
                                               const base::Error& error) {
  using Kind = Outcome::Kind;
  if (error.Is(base::ErrorCode::kNotFound)) return {};  // the watch will show the deletion
  if (error.Is(base::ErrorCode::kConflict)) return {Kind::kRetry, {}, "conflict"};
  if (!error.Is(base::ErrorCode::kCancelled)) {
    rooms_.complaints.Say("status of", key.ToString(), error.message);
  }
  return {Kind::kRetry, {}, "error"};
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
  rooms_.complaints.Say("question about", quota.key.ToString(),
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
  for (const auto& [resource, version] : outcome.unseen) rooms_.tracker.Await(resource, version);
  NoticeExpired(*known, outcome);
  co_return Outcome{Kind::kRevisit, kAtOnce, "postponed"};
}

// If the API server's own plugin is on by mistake, it adds again what we have reserved. While we
// admit, no object uses that second charge, so it expires here.
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
      "charging of", quota.key.ToString(),
      "somebody else charges usage that no object accounts for; if the API server's own "
      "quota plugin is on, switch it off or do not enforce this quota API here");
}

// A follower drops strangers' usage after its hold, without asking the server. It holds that usage
// again if it becomes leader.
Recounter::Outcome Recounter::Follow(const quota::Quota& quota, const QuotaCount& count) {
  Account& account = rooms_.accounts.Of(quota);
  account.strangers.Lapse(Now(), holds_.OfStrangers());
  base::TimePoint next = NextOwn(account, count);
  const auto oldest = account.strangers.Oldest();
  if (oldest) next = std::min(next, *oldest + holds_.OfStrangers());
  return LookAt(next, "following");
}

base::TimePoint Recounter::NextOwn(const Account& account, const QuotaCount& count) const {
  base::TimePoint next = base::TimePoint::max();
  if (count.behind_until > Now()) next = count.behind_until;
  const auto ends = account.own.BurstEnds();
  if (ends && *ends > Now()) return std::min(next, *ends);
  // A burst may end during a write, when nobody looks.
  const bool missed =
      count.behind_until <= Now() && account.own.MustTakeBack(Now(), account.known());
  return missed ? Now() + accounting::kLooksAgain : next;
}

Recounter::Outcome Recounter::LookAt(base::TimePoint next, std::string_view result) const {
  if (next == base::TimePoint::max()) return {.result = result};
  return {Outcome::Kind::kRevisit, std::max(next - Now(), kAtOnce), result};
}

Recounter::Outcome Recounter::Until(const Account& account, const QuotaCount& count,
                                    std::string_view result) const {
  const base::TimePoint now = Now();
  base::TimePoint next = NextOwn(account, count);
  const auto at_due = [&](base::TimePoint due) {
    next = std::min(next, due > now ? due : now + kAsksAfterFailure);
  };
  for (const accounting::Reservation& entry : account.known().entries()) {
    at_due(account.first_seen.Of(entry).value_or(now) + holds_.Of(entry));
  }
  if (const auto oldest = account.strangers.Oldest()) at_due(*oldest + holds_.OfStrangers());
  if (account.over_since) next = std::min(next, *account.over_since + accounting::kTidies);
  return LookAt(next, result);
}

}  // namespace controllers
