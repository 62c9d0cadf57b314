#pragma once

// Internal to the quota admitter: the writers, which reserve for waiting requests (group commit).
//
// A writer takes all requests that wait for it as a batch and decides them in order, by the newest
// known status. It writes each changed quota once for the whole batch, with its resourceVersion.
// Meanwhile the next batch gathers. After a conflict, all requests without an answer are decided
// again by all their quotas. A subset of the quotas could admit what another one refuses.
//
// Single-threaded. Stop() must have returned before it is destroyed.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "pkg/admission/observer.h"
#include "pkg/admission/waiter.h"
#include "pkg/base/scheduler.h"
#include "pkg/base/task_group.h"

namespace admission {

// Decides the requests in order, by what is known now. REQUIRES: all wait for the same quota API,
// and there is one.
BatchPlan PlanFor(const Waiters& waiters);

class QuotaWriters {
 public:
  // `scheduler` and `observer` must outlive the writers.
  QuotaWriters(base::asio::any_io_executor executor, base::Scheduler& scheduler, Observer& observer)
      : executor_(executor), scheduler_(scheduler), observer_(observer), running_(executor) {}

  // Takes the waiter's plan. Makes all its grants and answers the waiter, if they need no write.
  // Returns false if nothing was granted: the request has to wait.
  bool GrantAtOnce(Waiter& waiter);
  // Its writer will conclude the waiter, unless it is abandoned or its deadline comes first.
  // REQUIRES: there is an alarm.
  void Enqueue(const std::shared_ptr<Waiter>& waiter);
  // The quota API is closed: allows all requests that wait for a batch of its quotas.
  void Close(const QuotaSource& source);
  // Waits until the current batches are written and their requests are answered.
  base::Task<void> Stop() { return running_.Join(); }

 private:
  using Queue = std::deque<std::shared_ptr<Waiter>>;

  base::Task<void> WriteBatches(std::string writer);
  static Waiters TakeBatch(Queue& queue);
  base::Task<void> Commit(Waiters batch);
  void Number(BatchPlan& plan);
  base::Task<std::vector<base::Result<void>>> Write(const std::vector<PlannedGrants>& grants,
                                                    QuotaBook& book, base::TimePoint deadline);
  bool Settle(Waiters& batch, BatchPlan& plan, const std::vector<base::Result<void>>& outcomes);

  base::asio::any_io_executor executor_;
  base::Scheduler& scheduler_;
  Observer& observer_;
  // By Waiter::writer; only of running writers. No queue has waiters of two quota APIs.
  std::unordered_map<std::string, Queue> queues_;
  std::uint64_t grants_ = 0;
  base::TaskGroup running_;
};

}  // namespace admission
