#pragma once

// Decides reviews by the quotas of all enforced quota APIs, and reserves what it admits (group
// commit).
//
// The quota APIs judge one after the other. A request that needs nothing, or that does not fit
// anyway, is answered at once. All others wait for the writers of their quotas, one of each quota
// API. A writer takes all waiting requests as a batch and decides them in order, by the newest
// known status. It writes each changed quota once for the whole batch, with its resourceVersion.
// Meanwhile the next batch gathers. After a conflict, all requests without an answer are decided
// again by all their quotas. A subset of the quotas could admit what another one refuses. A refused
// or abandoned request leaves nothing reserved.
//
// Each call decides for all quota APIs, whichever webhook it is for. Quota APIs that want the same
// of a resource share a webhook (pkg/webhook/webhook_plan.h). If the API server calls several, side
// by side and perhaps on different replicas, nothing is reserved twice for an object. No call
// relies on another one. An API server that has not learnt of the newest webhook configuration may
// not make it.
//
// If the quotas of a quota API cannot be read, the request waits for them and fails. Those of
// another webhook than the one that is called are left out instead, if the API server has no rule
// of that quota API for the resource: then none of its quotas is enforced for it.
//
// What the API server's own plugin will refuse after all webhooks must not be charged: a namespace
// whose ResourceQuota is full would fill its ClusterQuota with charges that nobody uses, until
// their holds end. So quotas that somebody else enforces advise first (Advise()).
//
// Single-threaded. Stop() must have returned before it is destroyed.

#include <deque>
#include <functional>
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

class Ask;
struct QuotaSource;

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
  // False if the stored configuration has no rule of `quota_api` for requests for this resource in
  // `ns`. Null: there may be rules of everything.
  std::function<bool(const std::string& quota_api, const api::GroupResource& resource,
                     std::string_view ns)>
      may_call = nullptr;
};

class QuotaAdmitter final : public Admitter {
 public:
  // All arguments except `options` must outlive the admitter.
  QuotaAdmitter(base::asio::any_io_executor executor, base::Scheduler& scheduler,
                Observer& observer, QuotaAdmitterOptions options = {});
  ~QuotaAdmitter() override;

  // Decides by the quotas of this quota API, while its books are open. Quotas of the namespace
  // decide before ClusterQuotas. Call it before the first review; `api` must outlive the admitter.
  void Enforce(const quota::QuotaApi& api);
  // Somebody else enforces these quotas: the API server's own plugin, after it has called us. What
  // exceeds one of them by its stored status is not charged to ClusterQuotas. As Enforce().
  void Advise(const quota::QuotaApi& api);
  // There are quotas of this quota API from now on. Both must live until Close() returns. REQUIRES:
  // Enforce() or Advise() was called with it, and it is not open.
  void Open(const std::string& quota_api, QuotaBook& quotas, ObjectBook& objects);
  // Reviews that begin now find no quotas of this quota API. Returns when none uses its books.
  base::Task<void> Close(std::string quota_api);

  [[nodiscard]] std::vector<std::string> quota_apis() const override;
  [[nodiscard]] std::vector<std::string> FieldsOf(const api::GroupResource& resource) override;
  base::Task<Answer> Admit(Review review, base::TimePoint deadline) override;

  // Waits until the current batches are written and their requests are answered.
  base::Task<void> Stop();

 private:
  struct Pending;
  struct Waiter;
  struct Leaving;
  using Waiting = std::deque<std::shared_ptr<Waiter>>;
  using Batch = std::vector<std::shared_ptr<Waiter>>;

  void Add(const quota::QuotaApi& api, bool advises);
  [[nodiscard]] QuotaSource& SourceOf(const std::string& quota_api) const;
  // True if its quotas may limit the request, and may be enforced for it.
  [[nodiscard]] bool Concerns(const QuotaSource& source, const Review& review) const;
  // One for each quota API whose quotas may limit the request, in order.
  [[nodiscard]] Batch WaitersFor(const std::shared_ptr<const Pending>& pending) const;
  // The refusal of a quota that somebody else enforces. nullopt: it is not known to be refused, or
  // the quota could not be read within a quarter of a second.
  base::Task<std::optional<Answer>> AdviceOf(QuotaSource& source,
                                             std::shared_ptr<const Pending> pending);
  // Judges a request by the quotas of one quota API. nullopt: they admit it, and have to reserve
  // for it. `earlier`: an ask about the same review that reads alike, or null.
  base::Task<std::optional<Answer>> Begin(std::shared_ptr<Waiter> waiter, const Ask* earlier);
  // Reads the object. Returns why the request is refused whatever the amounts are, or nullopt.
  base::Task<std::optional<Answer>> Objection(std::shared_ptr<Waiter> waiter, const Ask* earlier);
  // True if a quota of its quota API may refuse the request.
  [[nodiscard]] static bool MayBeRefused(const Ask& ask);
  // Only a quota in mode Deny refuses, whatever fails: without one, a refusal becomes an admission
  // that says what was wrong.
  [[nodiscard]] static Answer Tempered(const Waiter& waiter, Answer answer);
  // REQUIRES: all wait for the same quota API, and there is one.
  [[nodiscard]] BatchPlan PlanFor(const Batch& batch) const;
  void PlanAlone(const std::shared_ptr<Waiter>& waiter) const;

  base::Task<Answer> Reserve(std::shared_ptr<Pending> pending, Batch waiters, Answer all);
  [[nodiscard]] static bool IsDecided(const Batch& waiters);
  // The first refusal, else the first answer that does not allow; null if there is none.
  [[nodiscard]] static const Answer* FirstAgainst(const Batch& waiters);
  static void DropLate(const Batch& waiters);
  [[nodiscard]] static Answer TimedOut(const Waiter& waiter);
  // Makes all grants of its plan, if they need no write. Returns false if nothing was granted.
  bool GrantAtOnce(Waiter& waiter);
  void Enqueue(const std::shared_ptr<Waiter>& waiter);
  [[nodiscard]] bool IsFull(const std::string& ns) const;
  [[nodiscard]] Answer Busy(const std::string& ns) const;
  void Leave(const std::string& ns);

  base::Task<void> WriteBatches(std::string writer);
  [[nodiscard]] Batch TakeBatch(Waiting& waiting) const;
  base::Task<void> Commit(Batch batch);
  static base::Task<void> ReadClassesOf(Batch batch);
  static bool KeepUnanswered(Batch& batch);
  [[nodiscard]] static base::TimePoint LastWriteOf(const Batch& batch);
  void Number(BatchPlan& plan);
  base::Task<std::vector<base::Result<void>>> Write(const std::vector<PlannedGrants>& grants,
                                                    QuotaBook& book, base::TimePoint deadline);
  static void RecordGrants(const PlannedGrants& made, const Batch& batch);
  bool Settle(Batch& batch, BatchPlan& plan, const std::vector<base::Result<void>>& outcomes);
  static void Conclude(Waiter& waiter, Answer answer);
  static void WithdrawAll(Waiter& waiter);

  base::asio::any_io_executor executor_;
  base::Scheduler& scheduler_;
  Observer& observer_;
  QuotaAdmitterOptions options_;
  std::vector<std::unique_ptr<QuotaSource>> sources_;  // in the order in which they judge
  std::map<api::GroupResource, std::vector<std::string>> fields_;  // FieldsOf(), of counted kinds
  // By quota API and writer; only of running writers. No queue has waiters of two quota APIs.
  std::unordered_map<std::string, Waiting> waiting_at_;
  std::size_t waiting_ = 0;
  std::unordered_map<std::string, std::size_t> waiting_of_;  // the same by namespace; never 0
  std::uint64_t grants_ = 0;
  base::TaskGroup writers_;
};

}  // namespace admission
