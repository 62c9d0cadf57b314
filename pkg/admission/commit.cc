// The writers: batches, one write for each quota, conflicts decided again.

#include <algorithm>
#include <utility>

#include "pkg/admission/quota_admitter.h"
#include "pkg/admission/waiter.h"

namespace admission {
namespace {

constexpr std::chrono::milliseconds kLongestPause{250};

// Tried again within the waiters' time. Anything else will not get better by waiting.
bool MayPass(const base::Error& error) {
  switch (error.code) {
    case base::ErrorCode::kConflict:
    case base::ErrorCode::kTimeout:
    case base::ErrorCode::kUnavailable:
    case base::ErrorCode::kTooManyRequests:
    case base::ErrorCode::kCancelled:
    case base::ErrorCode::kTls:
    case base::ErrorCode::kUnauthorized:  // our credentials are being renewed, perhaps
      return true;
    default:
      return false;
  }
}

base::Error ChangedMeanwhile(const quota::Quota& quota) {
  return {.code = base::ErrorCode::kConflict,
          .message = "quota " + quota.key.ToString() + " changed meanwhile"};
}

// What became of the writes that one request needs.
struct Fate {
  bool written = true;                 // all of them
  std::optional<base::Error> failure;  // of one that was not, a final one first
};

std::vector<Fate> FatesOf(std::size_t requests, const std::vector<PlannedWrite>& writes,
                          const std::vector<base::Result<void>>& outcomes) {
  std::vector<Fate> fates(requests);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    if (outcomes[i]) continue;
    const base::Error error = outcomes[i].error();
    for (const std::size_t member : writes[i].members) {
      Fate& fate = fates[member];
      fate.written = false;
      if (!fate.failure || !MayPass(error)) fate.failure = error;
    }
  }
  return fates;
}

}  // namespace

QuotaAdmitter::Batch QuotaAdmitter::TakeBatch(Waiting& waiting) const {
  Batch batch;
  while (!waiting.empty() && batch.size() < options_.max_batch) {
    if (!waiting.front()->abandoned) batch.push_back(std::move(waiting.front()));
    waiting.pop_front();
  }
  return batch;
}

// Who comes while a batch is written makes up the next one.
base::Task<void> QuotaAdmitter::WriteBatches(std::string writer) {
  co_await base::DeferCancellation();
  for (Batch batch = TakeBatch(waiting_at_[writer]); !batch.empty();) {
    co_await Commit(std::move(batch));
    batch = TakeBatch(waiting_at_[writer]);
  }
  waiting_at_.erase(writer);
}

base::Task<void> QuotaAdmitter::Commit(Batch batch) {
  base::Duration pause = options_.retry;
  while (true) {
    std::erase_if(batch, [this](const std::shared_ptr<Waiter>& waiter) {
      if (waiter->abandoned) WithdrawAll(*waiter);
      return waiter->abandoned || waiter->answer;
    });
    if (batch.empty()) co_return;
    const bool lacking = std::ranges::any_of(
        batch, [this](const std::shared_ptr<Waiter>& waiter) { return LacksClass(*waiter); });
    if (lacking) {
      co_await ResolveClassesOf(batch);
      continue;
    }
    base::TimePoint deadline{};
    for (const std::shared_ptr<Waiter>& waiter : batch) {
      LookAgain(*waiter);
      deadline = std::max(deadline, waiter->deadline);
    }
    BatchPlan plan = PlanFor(batch);
    Number(plan);
    RelyOnReserved(plan, batch);
    const auto from_burst = std::ranges::count_if(plan.writes, &PlannedWrite::from_burst);
    observer_.OnBatch(api_.name, batch.size(),
                      plan.writes.size() - static_cast<std::size_t>(from_burst));
    const std::vector<base::Result<void>> outcomes = co_await Reserve(plan.writes, deadline);
    if (Settle(batch, plan, outcomes)) continue;
    co_await scheduler_.Sleep(pause);
    pause = std::min<base::Duration>(pause * 2, kLongestPause);
  }
}

// A quota that came, or changed, while a write was under way may limit what a class would say.
base::Task<void> QuotaAdmitter::ResolveClassesOf(Batch batch) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const auto resolved = co_await ResolveClasses(batch[i]);
    if (!resolved) Conclude(*batch[i], Unavailable(resolved.error().message));
  }
}

void QuotaAdmitter::Number(BatchPlan& plan) {
  for (PlannedWrite& write : plan.writes) {
    for (Grant& grant : write.grants) grant.number = ++grants_;
  }
}

// What is planned anew may be answered by what was reserved for it before: that is no other call's.
void QuotaAdmitter::RelyOnReserved(const BatchPlan& plan, const Batch& batch) {
  for (const Answered& answered : plan.answered) {
    Waiter& waiter = *batch[answered.member];
    const std::uint64_t grant =
        book_.Rely(*answered.quota, waiter.request.uid, waiter.request.version);
    if (grant != 0) waiter.granted.push_back({answered.quota->key, waiter.request.uid, grant});
  }
}

// `writes` stay with the caller until all are done. What is granted from a burst is so before
// anything is waited for, as it was when it was planned.
base::Task<std::vector<base::Result<void>>> QuotaAdmitter::Reserve(
    const std::vector<PlannedWrite>& writes, base::TimePoint deadline) {
  std::vector<base::Result<void>> outcomes(writes.size());
  base::TaskGroup group(executor_);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    if (writes[i].from_burst) {
      if (!book_.Draw(writes[i])) outcomes[i] = ChangedMeanwhile(writes[i].quota);
      continue;
    }
    group.Spawn("reserve", [this, &writes, &outcomes, i, deadline]() -> base::Task<void> {
      ReservePlan plan = writes[i];
      const auto outcome = co_await book_.Reserve(std::move(plan), deadline);
      outcomes[i] = outcome;
    });
  }
  co_await group.Join();
  co_return outcomes;
}

// Answers those whose fate is known and leaves the others in `batch`. False: something failed that
// needs a pause.
bool QuotaAdmitter::Settle(Batch& batch, BatchPlan& plan,
                           const std::vector<base::Result<void>>& outcomes) {
  const std::vector<Fate> fates = FatesOf(batch.size(), plan.writes, outcomes);
  bool all_written = true;
  bool pause = false;
  for (std::size_t i = 0; i < plan.writes.size(); ++i) {
    const PlannedWrite& write = plan.writes[i];
    if (!outcomes[i]) {
      all_written = false;
      if (outcomes[i].error().Is(base::ErrorCode::kConflict)) {
        observer_.OnConflict(api_.name);
      } else {
        pause = true;
      }
      continue;
    }
    for (std::size_t m = 0; m < write.members.size(); ++m) {
      const Grant& grant = write.grants[m];
      batch[write.members[m]]->granted.push_back({write.quota.key, grant.uid, grant.number});
    }
    for (const PlannedWrite::Relying& relying : write.relying) {
      const Grant& grant = write.grants[relying.grant];
      batch[relying.member]->granted.push_back({write.quota.key, grant.uid, grant.number});
    }
  }
  Batch again;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const bool fits = plan.verdicts[i].kind == quota::Verdict::Kind::kFits;
    const bool reserved = fits && !batch[i]->request.dry_run && fates[i].written;
    if (fates[i].failure && !MayPass(*fates[i].failure)) {
      Conclude(*batch[i], Failed(*fates[i].failure));
    } else if (all_written || reserved) {
      Conclude(*batch[i], AnswerOf(api_, plan.verdicts[i], std::move(plan.warnings[i])));
    } else {
      // A refusal, too, was decided against what the failed write was to add.
      if (fates[i].failure) batch[i]->trouble = fates[i].failure->message;
      again.push_back(std::move(batch[i]));
    }
  }
  batch = std::move(again);
  return !pause;
}

void QuotaAdmitter::Conclude(Waiter& waiter, Answer answer) {
  if (waiter.abandoned || answer.kind != Answer::Kind::kAllowed) WithdrawAll(waiter);
  waiter.answer = std::move(answer);
  waiter.alarm->Wake();
}

void QuotaAdmitter::WithdrawAll(Waiter& waiter) { Withdraw(std::exchange(waiter.granted, {})); }

void QuotaAdmitter::Withdraw(const std::vector<Granted>& granted) {
  for (auto last = granted.rbegin(); last != granted.rend(); ++last) {
    book_.Withdraw(last->quota, last->uid, last->number);
  }
}

}  // namespace admission
