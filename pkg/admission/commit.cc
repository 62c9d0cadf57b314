// The writers of QuotaAdmitter: they decide batches, write each quota once, and decide again after
// conflicts.

#include <algorithm>
#include <utility>

#include "pkg/admission/answers.h"
#include "pkg/admission/quota_admitter.h"
#include "pkg/admission/waiter.h"

namespace admission {
namespace {

constexpr std::chrono::milliseconds kLongestPause{250};
// A write ends this long before the last of its requests, so that their answers can say what they
// waited for.
constexpr std::chrono::milliseconds kTimeToExplain{50};
// A batch leaves its quotas to other processes for at most this part of its time.
constexpr int kShareForOthers = 4;

// True for errors that a retry may resolve. They are retried until the waiters' deadlines.
bool MayPass(const base::Error& error) {
  switch (error.code) {
    case base::ErrorCode::kConflict:
    case base::ErrorCode::kTimeout:
    case base::ErrorCode::kUnavailable:
    case base::ErrorCode::kTooManyRequests:
    case base::ErrorCode::kCancelled:
    case base::ErrorCode::kTls:
    case base::ErrorCode::kUnauthorized:  // the credentials may be renewed meanwhile
      return true;
    default:
      return false;
  }
}

// Returns the latest of these times of the writes of the plan.
base::TimePoint LatestOf(const BatchPlan& plan, base::TimePoint ReservePlan::*time) {
  base::TimePoint latest{};
  for (const PlannedGrants& grants : plan.grants) {
    if (grants.from == ReservePlan::From::kWrite) latest = std::max(latest, grants.*time);
  }
  return latest;
}

base::Error ChangedMeanwhile(const quota::Quota& quota) {
  return {.code = base::ErrorCode::kConflict,
          .message = "quota " + quota.key.ToString() + " changed meanwhile"};
}

// True if the outcome of this write decides nothing: a quota in mode Warn or Audit admits what it
// cannot reserve. The objects count once the watch shows them. A conflict is decided again.
bool IsForgiven(const PlannedGrants& grants, const base::Result<void>& outcome) {
  return !outcome && !quota::MayRefuse(grants.quota) &&
         !outcome.error().Is(base::ErrorCode::kConflict);
}

// The outcome of all writes that one request needs, also if they carry the grant of another request
// for its object.
struct Fate {
  bool written = true;                 // all writes succeeded
  std::optional<base::Error> failure;  // of one that failed; a permanent failure is preferred
};

std::vector<Fate> FatesOf(std::size_t requests, const std::vector<PlannedGrants>& grants,
                          const std::vector<base::Result<void>>& outcomes) {
  std::vector<Fate> fates(requests);
  for (std::size_t i = 0; i < grants.size(); ++i) {
    if (outcomes[i] || IsForgiven(grants[i], outcomes[i])) continue;
    const base::Error error = outcomes[i].error();
    const auto fail = [&fates, &error](std::size_t request) {
      Fate& fate = fates[request];
      fate.written = false;
      if (!fate.failure || !MayPass(error)) fate.failure = error;
    };
    for (const std::size_t member : grants[i].members) fail(member);
    for (const PlannedGrants::Relying& relying : grants[i].relying) fail(relying.member);
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

// Requests that arrive while a batch is written form the next one. Deferred cancellation lets a
// batch finish, because its requests wait for answers.
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
  bool paced = false;
  // Until then the batch lets other processes write first. Once it has lost, it does not wait.
  base::TimePoint yields_until =
      scheduler_.Now() + (LastWriteOf(batch) - scheduler_.Now()) / kShareForOthers;
  const QuotaSource& source = batch.front()->ask->source();
  while (KeepUnanswered(batch)) {
    // A quota that appeared or changed during a write may limit what a class determines.
    if (std::ranges::any_of(batch, [](const auto& one) { return one->ask->LacksClass(); })) {
      co_await ReadClassesOf(batch);
      continue;
    }
    const base::TimePoint last = LastWriteOf(batch);
    if (scheduler_.Now() >= last) {
      // Reserve() answers them at their deadlines.
      for (const std::shared_ptr<Waiter>& waiter : batch) WithdrawAll(*waiter);
      co_return;
    }
    BatchPlan plan = PlanFor(batch);
    // Requests that arrive meanwhile form the next batch. The plan is made again: it may be old.
    base::TimePoint start = std::min(LatestOf(plan, &ReservePlan::turn), yields_until);
    if (!std::exchange(paced, true)) {
      start = std::max(start, std::min(LatestOf(plan, &ReservePlan::not_before), last));
    }
    if (start > scheduler_.Now()) {
      co_await scheduler_.Sleep(start - scheduler_.Now());
      continue;
    }
    Number(plan);
    const auto writes =
        std::ranges::count(plan.grants, ReservePlan::From::kWrite, &ReservePlan::from);
    observer_.OnBatch(source.api.name, batch.size(), static_cast<std::size_t>(writes));
    const std::vector<base::Result<void>> outcomes =
        co_await Write(plan.grants, *source.book, last);
    yields_until = {};
    if (Settle(batch, plan, outcomes)) continue;
    co_await scheduler_.Sleep(pause);
    pause = std::min<base::Duration>(pause * 2, kLongestPause);
  }
}

// Removes the requests that were answered or abandoned, and answers those whose quota API was
// closed: it has no quotas any more. Returns false if none is left.
bool QuotaAdmitter::KeepUnanswered(Batch& batch) {
  std::erase_if(batch, [](const std::shared_ptr<Waiter>& waiter) {
    if (waiter->abandoned) {
      WithdrawAll(*waiter);
    } else if (!waiter->answer && !waiter->ask->source().open) {
      Conclude(*waiter, Answer{});
    }
    return waiter->abandoned || waiter->answer;
  });
  return !batch.empty();
}

// Returns the deadline of a write for this batch.
base::TimePoint QuotaAdmitter::LastWriteOf(const Batch& batch) {
  base::TimePoint last{};
  for (const std::shared_ptr<Waiter>& waiter : batch) {
    last = std::max(last, waiter->pending->deadline - kTimeToExplain);
  }
  return last;
}

// A request whose classes cannot be read is answered 503.
base::Task<void> QuotaAdmitter::ReadClassesOf(Batch batch) {
  for (const std::shared_ptr<Waiter>& waiter : batch) {
    const auto read = co_await waiter->ask->ReadClasses(waiter->pending->deadline);
    if (!read) Conclude(*waiter, Unavailable(read.error().message));
  }
}

void QuotaAdmitter::Number(BatchPlan& plan) {
  for (PlannedGrants& grants : plan.grants) {
    for (Grant& grant : grants.grants) grant.number = ++grants_;
  }
}

// The caller keeps `grants` until this returns. Grants without a write are made before the first
// suspension, because the plan may be outdated after it.
base::Task<std::vector<base::Result<void>>> QuotaAdmitter::Write(
    const std::vector<PlannedGrants>& grants, QuotaBook& book, base::TimePoint deadline) {
  std::vector<base::Result<void>> outcomes(grants.size());
  base::TaskGroup group(executor_);
  for (std::size_t i = 0; i < grants.size(); ++i) {
    if (grants[i].from != ReservePlan::From::kWrite) {
      if (!book.Draw(grants[i])) outcomes[i] = ChangedMeanwhile(grants[i].quota);
      continue;
    }
    group.Spawn("reserve", [&book, &grants, &outcomes, i, deadline]() -> base::Task<void> {
      ReservePlan plan = grants[i];
      const auto outcome = co_await book.Reserve(std::move(plan), deadline);
      outcomes[i] = outcome;
    });
  }
  co_await group.Join();
  co_return outcomes;
}

// Each request remembers the grants that it relies on, so that they can be withdrawn.
void QuotaAdmitter::RecordGrants(const PlannedGrants& made, const Batch& batch) {
  const auto record = [&](std::size_t member, const Grant& grant) {
    batch[member]->granted.push_back({made.quota.key, grant.uid, grant.number});
  };
  for (std::size_t i = 0; i < made.members.size(); ++i) record(made.members[i], made.grants[i]);
  for (const PlannedGrants::Relying& relying : made.relying) {
    record(relying.member, made.grants[relying.grant]);
  }
}

// Answers the requests whose outcome is certain and leaves the others in `batch`. Returns false if
// a write failed such that the retry needs a pause. A conflict needs none: the newest version is
// known.
bool QuotaAdmitter::Settle(Batch& batch, BatchPlan& plan,
                           const std::vector<base::Result<void>>& outcomes) {
  const quota::QuotaApi& api = batch.front()->ask->source().api;
  bool all_written = true;
  bool pause = false;
  for (std::size_t i = 0; i < plan.grants.size(); ++i) {
    if (outcomes[i]) {
      RecordGrants(plan.grants[i], batch);
      continue;
    }
    if (IsForgiven(plan.grants[i], outcomes[i])) continue;
    all_written = false;
    if (outcomes[i].error().Is(base::ErrorCode::kConflict)) {
      observer_.OnConflict(api.name);
    } else {
      pause = true;
    }
  }
  const std::vector<Fate> fates = FatesOf(batch.size(), plan.grants, outcomes);
  Batch again;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const bool fits = plan.verdicts[i].kind == quota::Verdict::Kind::kFits;
    const bool reserved = fits && !batch[i]->ask->request().dry_run && fates[i].written;
    if (fates[i].failure && !MayPass(*fates[i].failure)) {
      Conclude(*batch[i], Failed(*fates[i].failure));
    } else if (all_written || reserved) {
      Conclude(*batch[i], AnswerOf(api, plan.verdicts[i], std::move(plan.warnings[i])));
    } else {
      // A refusal may also depend on what the failed write would have added, so decide it again.
      if (fates[i].failure) batch[i]->trouble = fates[i].failure->message;
      again.push_back(std::move(batch[i]));
    }
  }
  batch = std::move(again);
  return !pause;
}

void QuotaAdmitter::Conclude(Waiter& waiter, Answer answer) {
  if (waiter.abandoned || answer.kind != Answer::Kind::kAllowed) WithdrawAll(waiter);
  waiter.answer = Tempered(waiter, std::move(answer));
  waiter.pending->alarm->Wake();
}

void QuotaAdmitter::WithdrawAll(Waiter& waiter) {
  const std::vector<Granted> granted = std::exchange(waiter.granted, {});
  for (auto last = granted.rbegin(); last != granted.rend(); ++last) {
    waiter.ask->source().book->Withdraw(last->quota, last->uid, last->number);
  }
}

}  // namespace admission
