#include "pkg/admission/quota_writers.h"

#include <glog/logging.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "pkg/admission/answers.h"

namespace admission {
namespace {

constexpr std::size_t kMostInBatch = 512;
// After a failed write, doubled each time.
constexpr std::chrono::milliseconds kFirstPause{50};
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

// True if the outcome of this write decides nothing: a quota in mode Warn or Audit admits what it
// cannot reserve. The objects count once the watch shows them. A conflict is decided again.
bool IsForgiven(const PlannedGrants& grants, const base::Result<void>& outcome) {
  return !outcome && !quota::MayRefuse(grants.quota) &&
         !outcome.error().Is(base::ErrorCode::kConflict);
}

// Returns for each request why a write that it needs failed, also one that carries the grant of
// another request for its object. A permanent failure is preferred.
std::vector<std::optional<base::Error>> FailuresOf(
    std::size_t requests, const std::vector<PlannedGrants>& grants,
    const std::vector<base::Result<void>>& outcomes) {
  std::vector<std::optional<base::Error>> failures(requests);
  for (std::size_t i = 0; i < grants.size(); ++i) {
    if (outcomes[i] || IsForgiven(grants[i], outcomes[i])) continue;
    const base::Error error = outcomes[i].error();
    const auto fail = [&failures, &error](std::size_t request) {
      if (!failures[request] || !MayPass(error)) failures[request] = error;
    };
    for (const PlannedGrants::Relying& relying : grants[i].relying) fail(relying.member);
  }
  return failures;
}

// Returns the deadline of a write for this batch.
base::TimePoint LastWriteOf(const Waiters& batch) {
  base::TimePoint last{};
  for (const std::shared_ptr<Waiter>& waiter : batch) {
    last = std::max(last, waiter->pending->deadline - kTimeToExplain);
  }
  return last;
}

// A request whose classes cannot be read is answered 503.
base::Task<void> ReadClassesOf(Waiters batch) {
  for (const std::shared_ptr<Waiter>& waiter : batch) {
    const auto read = co_await waiter->ask->ReadClasses(waiter->pending->deadline);
    if (!read) waiter->Conclude(Unavailable(read.error().message));
  }
}

// Each request remembers the grants that it relies on, so that they can be withdrawn.
void RecordGrants(const PlannedGrants& made, const Waiters& batch) {
  for (const PlannedGrants::Relying& relying : made.relying) {
    batch[relying.member]->RelyOn(made, made.grants[relying.grant]);
  }
}

}  // namespace

BatchPlan PlanFor(const Waiters& waiters) {
  BatchQuotas quotas;
  std::vector<BatchRequest> requests;
  requests.reserve(waiters.size());
  const QuotaSource& source = waiters.front()->ask->source();
  for (const std::shared_ptr<Waiter>& waiter : waiters) {
    CHECK(&waiter->ask->source() == &source) << "a batch of two quota APIs";
    waiter->ask->LookAgain();
    const std::string& ns = waiter->pending->review.ns;
    const bool same = !requests.empty() && requests.back().ns == ns;
    const auto* by = same ? requests.back().by : quotas.Find(ns);
    if (by == nullptr) by = &quotas.Add(ns, source.book->Quotas(ns).quotas);
    requests.push_back({&waiter->ask->request(), ns, by});
  }
  return PlanBatch(requests, quotas);
}

// Nothing is taken from a burst while a writer runs: earlier requests wait for it, and they come
// first.
bool QuotaWriters::GrantAtOnce(Waiter& waiter) {
  BatchPlan plan = std::exchange(waiter.plan, {});
  const QuotaSource& source = waiter.ask->source();
  const auto any = [&plan](ReservePlan::From from) {
    return std::ranges::find(plan.grants, from, &ReservePlan::from) != plan.grants.end();
  };
  const bool drawn = any(ReservePlan::From::kBurst);
  const bool waits = any(ReservePlan::From::kWrite);
  if (waits || (drawn && queues_.contains(waiter.writer))) return false;
  Number(plan);
  for (const PlannedGrants& grants : plan.grants) {
    if (!source.book->Draw(grants)) {
      waiter.WithdrawAll();  // the grants of other quotas
      return false;
    }
    waiter.RelyOn(grants, grants.grants.front());
  }
  if (drawn) observer_.OnBatch(source.api.name, 1, 0);
  waiter.answer = waiter.Tempered(
      AnswerOf(source.api, plan.verdicts.front(), std::move(plan.warnings.front())));
  return true;
}

void QuotaWriters::Enqueue(const std::shared_ptr<Waiter>& waiter) {
  const std::string& writer = waiter->writer;
  CHECK(waiter->pending->alarm != nullptr && !waiter->answer) << "it does not wait for an answer";
  const auto [entry, first] = queues_.try_emplace(writer);
  CHECK(entry->second.empty() || &entry->second.front()->ask->source() == &waiter->ask->source())
      << "two quota APIs have the writer " << writer;
  entry->second.push_back(waiter);
  if (!first) return;
  running_.Spawn("quota writer " + writer, [this, writer] { return WriteBatches(writer); });
}

void QuotaWriters::Close(const QuotaSource& source) {
  for (auto& [writer, queue] : queues_) {
    if (queue.empty() || &queue.front()->ask->source() != &source) continue;
    for (const std::shared_ptr<Waiter>& waiter : queue) waiter->Conclude(Answer{});
    queue.clear();
  }
}

Waiters QuotaWriters::TakeBatch(Queue& queue) {
  Waiters batch;
  while (!queue.empty() && batch.size() < kMostInBatch) {
    if (!queue.front()->abandoned) batch.push_back(std::move(queue.front()));
    queue.pop_front();
  }
  return batch;
}

// Requests that arrive while a batch is written form the next one. Deferred cancellation lets a
// batch finish, because its requests wait for answers.
base::Task<void> QuotaWriters::WriteBatches(std::string writer) {
  co_await base::DeferCancellation();
  for (Waiters batch = TakeBatch(queues_[writer]); !batch.empty();) {
    co_await Commit(std::move(batch));
    batch = TakeBatch(queues_[writer]);
  }
  const auto queue = queues_.find(writer);
  CHECK(queue->second.empty()) << "the writer " << writer << " leaves requests behind";
  queues_.erase(queue);
}

base::Task<void> QuotaWriters::Commit(Waiters batch) {
  base::Duration pause = kFirstPause;
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
      // Their callers answer them at their deadlines.
      for (const std::shared_ptr<Waiter>& waiter : batch) waiter->WithdrawAll();
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

void QuotaWriters::Number(BatchPlan& plan) {
  for (PlannedGrants& grants : plan.grants) {
    for (Grant& grant : grants.grants) grant.number = ++grants_;
  }
}

// The caller keeps `grants` until this returns. Grants without a write are made before the first
// suspension, because the plan may be outdated after it. A write that waits for a failed one is not
// made.
base::Task<std::vector<base::Result<void>>> QuotaWriters::Write(
    const std::vector<PlannedGrants>& grants, QuotaBook& book, base::TimePoint deadline) {
  std::vector<base::Result<void>> outcomes(grants.size());
  std::vector<std::size_t> writes;
  std::vector<bool> pending(grants.size());
  for (std::size_t i = 0; i < grants.size(); ++i) {
    if (grants[i].from == ReservePlan::From::kWrite) {
      writes.push_back(i);
      pending[i] = true;
    } else if (!book.Draw(grants[i])) {
      outcomes[i] = Changed(grants[i].quota);
    }
  }
  while (!writes.empty()) {
    base::TaskGroup group(executor_);
    std::vector<std::size_t> waiting;
    for (const std::size_t i : writes) {
      const std::optional<std::size_t> after = grants[i].after;
      if (after && pending[*after]) {
        waiting.push_back(i);
      } else if (after && !outcomes[*after] && !IsForgiven(grants[*after], outcomes[*after])) {
        outcomes[i] = outcomes[*after].error();
      } else {
        group.Spawn("reserve", [&book, &grants, &outcomes, i, deadline]() -> base::Task<void> {
          ReservePlan plan = grants[i];
          const auto outcome = co_await book.Reserve(std::move(plan), deadline);
          outcomes[i] = outcome;
        });
      }
    }
    co_await group.Join();
    CHECK_LT(waiting.size(), writes.size()) << "writes wait for each other";
    for (const std::size_t i : writes) pending[i] = false;
    for (const std::size_t i : waiting) pending[i] = true;
    writes = std::move(waiting);
  }
  co_return outcomes;
}

// Answers the requests whose outcome is certain and leaves the others in `batch`. Returns false if
// a write failed such that the retry needs a pause. A conflict needs none: a newer version is
// known.
bool QuotaWriters::Settle(Waiters& batch, BatchPlan& plan,
                          const std::vector<base::Result<void>>& outcomes) {
  CHECK_EQ(plan.verdicts.size(), batch.size()) << "the plan is that of another batch";
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
  const auto failures = FailuresOf(batch.size(), plan.grants, outcomes);
  Waiters again;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const std::optional<base::Error>& failure = failures[i];
    const bool fits = plan.verdicts[i].kind == quota::Verdict::Kind::kFits;
    const bool reserved = fits && !batch[i]->ask->request().dry_run && !failure;
    if (failure && !MayPass(*failure)) {
      batch[i]->Conclude(Failed(*failure));
    } else if (all_written || reserved) {
      batch[i]->Conclude(AnswerOf(api, plan.verdicts[i], std::move(plan.warnings[i])));
    } else {
      // A refusal may also depend on what the failed write would have added, so decide it again.
      if (failure) batch[i]->trouble = failure->message;
      again.push_back(std::move(batch[i]));
    }
  }
  batch = std::move(again);
  return !pause;
}

}  // namespace admission
