#pragma once

// Decides reviews by the quotas of one quota API, and reserves what it admits (group commit).
//
// A request that needs nothing, or that does not fit anyway, is answered at once. All others wait
// for the writer of their quotas. The writer takes all waiting requests as a batch and decides them
// in order, by the newest known status. It writes each changed quota once for the whole batch, with
// its resourceVersion. Meanwhile the next batch gathers. After a conflict, all requests without an
// answer are decided again by all their quotas. A subset of the quotas could admit what another one
// refuses. A refused or abandoned request leaves nothing reserved.
//
// Single-threaded. Stop() must have returned before it is destroyed.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
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
  // The maximum of waiting reviews in all namespaces. Further reviews are answered kBusy.
  std::size_t max_waiting = 4096;
  // The maximum in one namespace, so that a namespace whose quotas cannot be written does not block
  // others. An API server handles some hundred requests at once.
  std::size_t max_waiting_in_namespace = 1024;
  std::size_t max_batch = 512;
  base::Duration retry = std::chrono::milliseconds(50);  // after a failed write, doubled each time
  bool warn_near_limits = true;
  // Nothing is refused there. The set may change. Never null.
  std::shared_ptr<const std::set<std::string, std::less<>>> exempt_namespaces =
      std::make_shared<std::set<std::string, std::less<>>>();
};

class QuotaAdmitter final : public Admitter {
 public:
  // All arguments except `options` must outlive the admitter.
  QuotaAdmitter(base::asio::any_io_executor executor, base::Scheduler& scheduler,
                const quota::QuotaApi& api, QuotaBook& book, ObjectBook& objects,
                Observer& observer, QuotaAdmitterOptions options = {});
  ~QuotaAdmitter() override;

  [[nodiscard]] const std::string& name() const override { return api_.name; }
  [[nodiscard]] std::vector<std::string> FieldsOf(const api::GroupResource& resource) override;
  base::Task<Answer> Admit(Review review, base::TimePoint deadline) override;

  // For requests that the quotas of several quota APIs limit (joint_admitter.h).
  // Returns false if Admit() would allow the request at once, because no quota can limit it.
  [[nodiscard]] bool MayLimit(const Review& review) const;
  // False if quotas of the namespace may be missing, so that Admit() reads them first.
  [[nodiscard]] bool KnowsQuotas(std::string_view ns) const { return book_.Look(ns).complete; }
  struct Waiter;
  struct Judgement {
    Answer answer;
    // The request, for AdmitJudged(). Null: the answer is final, Admit() would reserve nothing.
    std::shared_ptr<Waiter> judged = nullptr;
  };
  // Returns what Admit() would answer now. Reserves nothing.
  base::Task<Judgement> Judge(Review review, base::TimePoint deadline);
  // Does the rest of Admit(): decides again, and reserves. Some time may have passed.
  base::Task<Answer> AdmitJudged(std::shared_ptr<Waiter> judged);
  // For quotas that somebody else enforces: the API server's own plugin, after it has called us.
  // Returns its refusal if the request exceeds one of them by its stored status. Reserves nothing.
  // nullopt: it is not known to be refused, or the quota could not be read within a quarter of a
  // second.
  base::Task<std::optional<Answer>> Advise(Review review, base::TimePoint deadline);
  // True if its quotas are ClusterQuotas.
  [[nodiscard]] bool cluster() const { return api_.form.cluster; }
  // Takes back the grants of an answer, if the request is not allowed after all.
  void Withdraw(const std::vector<Granted>& granted);

  // Waits until the current batches are written and their requests are answered.
  base::Task<void> Stop();

 private:
  using Waiting = std::deque<std::shared_ptr<Waiter>>;
  using Batch = std::vector<std::shared_ptr<Waiter>>;

  // Returns null if quotas never limit such a request.
  [[nodiscard]] std::shared_ptr<Waiter> Take(Review review, base::TimePoint deadline) const;
  // Reads what the decision needs. Judgement::judged is then ready to be decided. Null: the answer
  // is certain without that.
  base::Task<Judgement> Begin(Review review, base::TimePoint deadline);
  // The same with a request whose evaluator and quotas are known. Returns an answer that refuses
  // it, or nullopt.
  base::Task<std::optional<Answer>> Complete(std::shared_ptr<Waiter> waiter);
  // Decides a request that is complete.
  base::Task<Answer> Finish(std::shared_ptr<Waiter> waiter);
  // True if some quota of the namespace may refuse a request.
  [[nodiscard]] bool MayRefuseIn(const std::string& ns) const;
  // Returns the answer to a request of the namespace. Only a quota in mode Deny refuses, whatever
  // fails: without one, a refusal becomes an admission that says what was wrong.
  [[nodiscard]] Answer Tempered(const std::string& ns, Answer answer) const;
  [[nodiscard]] const quota::Evaluator* EvaluatorFor(const api::GroupResource& resource) const;
  base::Result<void> Prepare(Waiter& waiter) const;
  [[nodiscard]] std::vector<const quota::Quota*> QuotasIn(const std::string& ns) const;
  // Updates what changes while a request waits: its classes, and if it can still be stored.
  void LookAgain(Waiter& waiter) const;
  // Its usage under names that its quotas limit only since it was read is unknown.
  void NoteNewNames(Waiter& waiter) const;
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
  bool KeepUnanswered(Batch& batch);
  [[nodiscard]] static base::TimePoint LastWriteOf(const Batch& batch);
  // Makes all grants of a plan for one request, if they need no write. Returns false if nothing was
  // granted.
  bool GrantAtOnce(Waiter& waiter, BatchPlan& plan);
  void Number(BatchPlan& plan);
  base::Task<std::vector<base::Result<void>>> Reserve(const std::vector<PlannedGrants>& grants,
                                                      base::TimePoint deadline);
  static void RecordGrants(const PlannedGrants& made, const Batch& batch);
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
  std::unordered_map<std::string, Waiting> waiting_at_;  // by writer; only of running writers
  std::size_t waiting_ = 0;
  std::unordered_map<std::string, std::size_t> waiting_of_;  // the same by namespace; never 0
  std::uint64_t grants_ = 0;
  base::TaskGroup writers_;
};

}  // namespace admission
