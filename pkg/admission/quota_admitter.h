#pragma once

// Decides reviews against the quotas of one quota API, and reserves what it admits: group commit.
//
// What needs nothing, and what does not fit anyhow, is answered at once. The rest waits behind its
// writer of its quotas, which takes all that wait, decides them in order against the newest status
// known, and writes each changed quota once for all of them, guarded by its resourceVersion. While
// a write is under way the next batch gathers. After a conflict all that are not yet answered are
// decided again, against all their quotas: never against a subset, which could admit what another
// quota refuses. Whoever is refused, or given up, leaves nothing reserved.
//
// Single-threaded. Stop() must have returned before it is destroyed.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pkg/admission/admitter.h"
#include "pkg/admission/batch.h"
#include "pkg/admission/object_book.h"
#include "pkg/admission/observer.h"
#include "pkg/admission/quota_book.h"
#include "pkg/base/scheduler.h"
#include "pkg/base/task_group.h"

namespace admission {

struct QuotaAdmitterOptions {
  std::size_t max_waiting = 4096;  // in all namespaces; beyond it reviews are answered kBusy
  // In one, so that a namespace whose quotas cannot be written does not stand in the way of others.
  // An API server has some hundred requests in hand at once.
  std::size_t max_waiting_in_namespace = 1024;
  std::size_t max_batch = 512;
  base::Duration retry = std::chrono::milliseconds(50);  // after a failed write, doubled each time
  bool warn_near_limits = true;
  std::set<std::string, std::less<>> exempt_namespaces = {};  // in which nothing is refused
};

class QuotaAdmitter final : public Admitter {
 public:
  // All but `options` outlive the admitter.
  QuotaAdmitter(base::asio::any_io_executor executor, base::Scheduler& scheduler,
                const quota::QuotaApi& api, QuotaBook& book, ObjectBook& objects,
                Observer& observer, QuotaAdmitterOptions options = {});
  ~QuotaAdmitter() override;

  [[nodiscard]] const std::string& name() const override { return api_.name; }
  [[nodiscard]] std::vector<std::string> FieldsOf(const api::GroupResource& resource) override;
  base::Task<Answer> Admit(Review review, base::TimePoint deadline) override {
    return AdmitOrJudge(std::move(review), deadline, nullptr);
  }

  // For requests that the quotas of several quota APIs limit (joint_admitter.h).
  // False: Admit() would allow it at once, for want of quotas.
  [[nodiscard]] bool MayLimit(const Review& review) const;
  struct Judgement {
    Answer answer;
    bool reserves = false;  // allowed, but for Admit() to reserve for it
  };
  // What Admit() would answer now. It reserves nothing.
  base::Task<Judgement> Judge(Review review, base::TimePoint deadline);
  // Takes back what an answer says was granted: the request is not allowed after all.
  void Withdraw(const std::vector<Granted>& granted);

  // Lets the batches in hand finish; their waiters are answered.
  base::Task<void> Stop();

 private:
  struct Waiter;
  using Waiting = std::deque<std::shared_ptr<Waiter>>;
  using Batch = std::vector<std::shared_ptr<Waiter>>;

  // Judges only, if `reserves` is not null: it becomes Judgement::reserves.
  Answer JudgeNow(const std::shared_ptr<Waiter>& waiter, bool& reserves) const;
  base::Task<Answer> AdmitOrJudge(Review review, base::TimePoint deadline, bool* reserves);
  [[nodiscard]] const quota::Evaluator* EvaluatorFor(const api::GroupResource& resource) const;
  base::Result<void> Prepare(Waiter& waiter) const;
  [[nodiscard]] std::vector<const quota::Quota*> QuotasIn(const std::string& ns) const;
  // What changes while a request waits: its classes, and whether it can be stored still.
  void LookAgain(Waiter& waiter) const;
  [[nodiscard]] bool LacksClass(const Waiter& waiter) const;
  base::Task<base::Result<void>> ResolveClasses(std::shared_ptr<Waiter> waiter);
  base::Task<void> ResolveClassesOf(Batch batch);
  [[nodiscard]] Answer Busy(const std::string& ns) const;
  [[nodiscard]] BatchPlan PlanFor(const Batch& batch) const;
  base::Task<Answer> Decide(std::shared_ptr<Waiter> waiter);
  base::Task<Answer> Wait(std::shared_ptr<Waiter> waiter);
  void Leave(const std::string& ns);
  base::Task<void> WriteBatches(std::string writer);
  [[nodiscard]] Batch TakeBatch(Waiting& waiting) const;
  base::Task<void> Commit(Batch batch);
  // True if all of the plan fits bursts: then it is granted to the only request.
  bool GrantAtOnce(Waiter& waiter, BatchPlan& plan);
  void Number(BatchPlan& plan);
  void RelyOnReserved(const BatchPlan& plan, const Batch& batch);
  base::Task<std::vector<base::Result<void>>> Reserve(const std::vector<PlannedWrite>& writes,
                                                      base::TimePoint deadline);
  bool Settle(Batch& batch, BatchPlan& plan, const std::vector<base::Result<void>>& outcomes);
  void Conclude(Waiter& waiter, Answer answer);
  void WithdrawAll(Waiter& waiter);

  base::asio::any_io_executor executor_;
  base::Scheduler& scheduler_;
  const quota::QuotaApi& api_;
  QuotaBook& book_;
  ObjectBook& objects_;
  Observer& observer_;
  QuotaAdmitterOptions options_;
  std::unordered_map<std::string, Waiting> waiting_at_;  // of writers that run
  std::size_t waiting_ = 0;
  std::unordered_map<std::string, std::size_t> waiting_of_;  // the same by namespace; none is 0
  std::uint64_t grants_ = 0;
  base::TaskGroup writers_;
};

}  // namespace admission
