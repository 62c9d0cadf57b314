// The end of QuotaAdmitter::Admit(): the quotas of all quota APIs that have to grow for a request
// reserve for it, or none of them does.

#include <algorithm>
#include <utility>

#include "pkg/admission/answers.h"
#include "pkg/admission/quota_admitter.h"
#include "pkg/admission/waiter.h"

namespace admission {
namespace {

bool IsAllowed(const Answer& answer) { return answer.kind == Answer::Kind::kAllowed; }

}  // namespace

// However this ends, no grant stays without an allowed answer: the writers take back what they
// grant to an abandoned waiter later.
struct QuotaAdmitter::Leaving {
  QuotaAdmitter& admitter;
  const std::string& ns;
  const Batch& waiters;
  bool allowed = false;

  ~Leaving() {
    admitter.Leave(ns);
    for (const std::shared_ptr<Waiter>& waiter : waiters) {
      waiter->abandoned = !waiter->answer;
      if (!allowed) WithdrawAll(*waiter);
    }
  }
};

base::Task<Answer> QuotaAdmitter::Reserve(std::shared_ptr<Pending> pending, Batch waiters,
                                          Answer all) {
  const std::string& ns = pending->review.ns;
  const bool full = IsFull(ns);
  ++waiting_;
  ++waiting_of_[ns];
  Leaving leaving{*this, ns, waiters};
  for (const std::shared_ptr<Waiter>& waiter : waiters) {
    // The last one has just been planned. The others may have been planned long ago.
    if (waiter != waiters.back()) PlanAlone(waiter);
    if (GrantAtOnce(*waiter)) continue;
    if (full) {
      waiter->answer = Tempered(*waiter, Busy(ns));
    } else {
      if (pending->alarm == nullptr) pending->alarm = scheduler_.NewAlarm();
      Enqueue(waiter);
    }
  }
  bool stopping = false;
  while (!IsDecided(waiters) && !stopping && scheduler_.Now() < pending->deadline) {
    co_await pending->alarm->WaitUntil(pending->deadline);
    stopping = co_await base::Stopping();
  }
  if (scheduler_.Now() >= pending->deadline) DropLate(waiters);
  if (const Answer* against = FirstAgainst(waiters)) co_return *against;
  for (const std::shared_ptr<Waiter>& waiter : waiters) {
    Answer answer = waiter->answer ? *std::move(waiter->answer) : TimedOut(*waiter);
    if (!IsAllowed(answer)) co_return answer;
    for (std::size_t i = 0; i < answer.warnings.size(); ++i) {
      observer_.OnWarning(waiter->ask->source().api.name);
    }
    AddTo(all, std::move(answer));
  }
  leaving.allowed = true;
  co_return all;
}

bool QuotaAdmitter::IsDecided(const Batch& waiters) {
  const bool all =
      std::ranges::all_of(waiters, [](const auto& one) { return one->answer.has_value(); });
  return all || FirstAgainst(waiters) != nullptr;
}

const Answer* QuotaAdmitter::FirstAgainst(const Batch& waiters) {
  const Answer* against = nullptr;
  for (const std::shared_ptr<Waiter>& waiter : waiters) {
    if (!waiter->answer || IsAllowed(*waiter->answer)) continue;
    if (waiter->answer->kind == Answer::Kind::kRefused) return &*waiter->answer;
    if (against == nullptr) against = &*waiter->answer;
  }
  return against;
}

// If this process was suspended meanwhile, the hold of a grant may be nearly over. So a late answer
// must not allow the request.
void QuotaAdmitter::DropLate(const Batch& waiters) {
  for (const std::shared_ptr<Waiter>& waiter : waiters) {
    if (!waiter->answer || !IsAllowed(*waiter->answer)) continue;
    WithdrawAll(*waiter);
    waiter->answer.reset();
  }
}

Answer QuotaAdmitter::TimedOut(const Waiter& waiter) {
  const std::string why = waiter.trouble.empty() ? "" : ": " + waiter.trouble;
  return Tempered(waiter, Unavailable("resource quota evaluation timed out" + why));
}

// Nothing is taken from a burst while a writer runs: earlier requests wait for it, and they come
// first.
bool QuotaAdmitter::GrantAtOnce(Waiter& waiter) {
  BatchPlan plan = std::exchange(waiter.plan, {});
  const QuotaSource& source = waiter.ask->source();
  const auto any = [&plan](ReservePlan::From from) {
    return std::ranges::find(plan.grants, from, &ReservePlan::from) != plan.grants.end();
  };
  const bool drawn = any(ReservePlan::From::kBurst);
  const bool waits = any(ReservePlan::From::kWrite);
  if (waits || (drawn && waiting_at_.contains(waiter.writer))) return false;
  Number(plan);
  for (const PlannedGrants& grants : plan.grants) {
    if (!source.book->Draw(grants)) {
      WithdrawAll(waiter);  // the grants of other quotas; the request then waits for a writer
      return false;
    }
    const Grant& grant = grants.grants.front();
    waiter.granted.push_back({grants.quota.key, grant.uid, grant.number});
  }
  if (drawn) observer_.OnBatch(source.api.name, 1, 0);
  waiter.answer = Tempered(
      waiter, AnswerOf(source.api, plan.verdicts.front(), std::move(plan.warnings.front())));
  return true;
}

void QuotaAdmitter::Enqueue(const std::shared_ptr<Waiter>& waiter) {
  const std::string& writer = waiter->writer;
  const auto [entry, first] = waiting_at_.try_emplace(writer);
  entry->second.push_back(waiter);
  if (!first) return;
  writers_.Spawn("quota writer " + writer, [this, writer] { return WriteBatches(writer); });
}

bool QuotaAdmitter::IsFull(const std::string& ns) const {
  const auto of_namespace = waiting_of_.find(ns);
  const bool full = of_namespace != waiting_of_.end() &&
                    of_namespace->second >= options_.max_waiting_in_namespace;
  return full || waiting_ >= options_.max_waiting;
}

Answer QuotaAdmitter::Busy(const std::string& ns) const {
  const bool all = waiting_ > options_.max_waiting;
  return {.kind = Answer::Kind::kBusy,
          .code = 429,
          .reason = "TooManyRequests",
          .message = "too many requests " + (all ? "" : "of namespace " + ns + " ") +
                     "wait for quota decisions"};
}

void QuotaAdmitter::Leave(const std::string& ns) {
  --waiting_;
  const auto of_namespace = waiting_of_.find(ns);
  if (--of_namespace->second == 0) waiting_of_.erase(of_namespace);
}

}  // namespace admission
