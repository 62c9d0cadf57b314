#pragma once

// Keeps status.hard and status.used of every quota of one quota API true.
//
// key → find the quota → sum usage → add what others charged and we have not seen → compare → at
// most one guarded write. There is no suspension between summing and comparing. Nothing changed: no
// write. Every event only enqueues keys; what to write is decided from state alone.
//
// Single-threaded. Run() must have returned before it is destroyed.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "controllers/quota/pulse.h"
#include "controllers/quota/quota_reporter.h"
#include "controllers/quota/quota_store.h"
#include "controllers/quota/quota_walk.h"
#include "controllers/quota/served_resources.h"
#include "controllers/quota/tracked_resource.h"
#include "controllers/quota/tracker.h"
#include "pkg/admission/observer.h"
#include "pkg/admission/quota_book.h"
#include "pkg/base/gate.h"
#include "pkg/base/task_group.h"
#include "pkg/queue/async_queue.h"
#include "pkg/quota/advance.h"
#include "pkg/quota/charges.h"
#include "pkg/quota/foreign_charges.h"
#include "pkg/quota/quota.h"

namespace controllers {

// What operators want to count. Implemented where the metrics are.
class ControllerObserver {
 public:
  virtual ~ControllerObserver() = default;
  // `result` is "written", "unchanged", "postponed", "conflict", "error", or "following": what is
  // to be written is the leader's matter.
  virtual void OnReconcile(std::string_view result, base::Duration took) = 0;
  virtual void OnDrift(const api::GroupResource& resource, const DriftReport& report) = 0;
  virtual void OnResync(base::Duration took, bool complete) = 0;
  // Increases of `used` by somebody else that no object ever accounted for.
  virtual void OnForeignChargesExpired(std::size_t charges) = 0;
  // That is about to be charged for creations to come.
  virtual void OnAdvance(const quota::Quota& quota, const quota::ResourceList& usage) = 0;
};

struct QuotaControllerOptions {
  std::size_t workers = 5;
  base::Duration resync_period = std::chrono::minutes(5);  // zero: no periodic resync
  double resync_jitter = 0.1;                              // each period is stretched by up to this
  base::Duration settle = std::chrono::seconds(3);  // how far a watch may lag behind a fresh list
  // A quota's status is written at once after a change, so many times in a row; under lasting churn
  // then once in this time.
  int write_burst = 40;
  base::Duration write_interval = std::chrono::milliseconds(55);
  // A first status, or one with new names, waits so long for resources that are still being listed.
  base::Duration first_count_patience = std::chrono::seconds(10);
  // How long a charge outlives its write without the object being seen: our own, somebody else's.
  // See SetHold().
  base::Duration charge_hold = std::chrono::seconds(10);
  base::Duration foreign_hold = std::chrono::seconds(10);
  quota::AdvanceOptions advance;  // what admission charges for creations to come
  // Somebody else lowered `used`: perhaps their watch is ahead of ours, so ours gets this long.
  base::Duration foreign_decrease_patience = std::chrono::milliseconds(250);
  base::Duration write_timeout = std::chrono::seconds(15);
  // Of our writes, and of nobody else's, other replicas included: it tells whose a write is whose
  // answer was lost. Empty: each that may be ours is taken for somebody else's.
  std::string field_manager;
  // Whether this replica is the one that keeps statuses right, at this moment; it is asked right
  // before each write. The others inform, count and admit. Null: always. See OnLeading().
  std::function<bool()> leading;
  // True once admission guards the evaluator's resource in this namespace: a name enters
  // status.hard only then. Null: this quota API is not decided at admission here.
  std::function<bool(const quota::Evaluator& evaluator, std::string_view ns)> guarded;
  // Namespaces in which admission refuses nothing, which is told to their quotas. Null: none.
  std::function<bool(std::string_view ns)> exempt;
  // Called, once the quotas are listed, whenever tracker().Constrained() may have changed. May be
  // null.
  std::function<void()> on_constrained;
  admission::Observer* admission = &admission::NoObserver();  // outlives the controller
  std::uint64_t seed = 0;                                     // of the jitter; 0: random
};

class QuotaController final : public QuotaListener,
                              public UsageListener,
                              public admission::QuotaBook {
 public:
  // `api`, `served`, `observer` and what `context` points to outlive the controller.
  QuotaController(TrackingContext context, const quota::QuotaApi& api, ServedResources& served,
                  ControllerObserver& observer, const QuotaControllerOptions& options,
                  queue::Observer& queue_observer = queue::NoObserver());

  // Informs and reconciles until cancelled; then finishes what is in hand.
  base::Task<void> Run();

  // True when the quotas are listed and every resource they name is synced, in trouble or absent.
  // `why` says what is missing.
  [[nodiscard]] bool Ready(std::string* why) const;

  // True if the server says that it has no such quotas.
  [[nodiscard]] bool NotServed() const {
    const auto& trouble = quotas_->state().trouble;
    return trouble && trouble->Is(base::ErrorCode::kNotFound);
  }

  [[nodiscard]] const QuotaStore& store() const { return store_; }
  [[nodiscard]] const Tracker& tracker() const { return tracker_; }
  [[nodiscard]] const QuotaConditions& conditions() const { return reporter_.conditions(); }
  [[nodiscard]] queue::RunningWork running() const { return queue_.Running(); }

  void OnQuota(const quota::Quota* before, const quota::Quota* after) override;
  void OnQuotasSynced() override;
  void OnUsageChange(const quota::Evaluator& evaluator, const quota::LedgerChange& change) override;
  void OnResourceState(const quota::Evaluator& evaluator) override;
  void OnClassChange(const quota::Evaluator& evaluator, const std::string& name) override;
  void OnClassState(const quota::Evaluator& evaluator) override;

  // What `guarded` says changed.
  void OnGuards();
  // `leading` became true: everything is looked at.
  void OnLeading();
  // How long a charge outlives its write without the object being seen, from now on: our own, and
  // somebody else's.
  void SetHold(base::Duration hold);
  // Counts what is held for objects that no watch has shown yet, some of it in each call. True:
  // call again.
  struct ChargeCount {
    std::size_t held = 0;
    api::ObjectKey place;  // the quotas up to this one are counted
  };
  bool CountCharges(ChargeCount& count) const;
  [[nodiscard]] std::size_t charges_held() const {
    ChargeCount count;
    while (CountCharges(count)) continue;
    return count.held;
  }

  // admission::QuotaBook, in charging.cc.
  [[nodiscard]] bool Current() const override;
  [[nodiscard]] std::vector<const quota::Quota*> InNamespace(std::string_view ns) const override;
  [[nodiscard]] const quota::Charge* Covering(const quota::Quota& quota, const quota::Uid& uid,
                                              std::string_view version) const override;
  std::uint64_t Cover(const quota::Quota& quota, const quota::Uid& uid,
                      std::string_view version) override;
  [[nodiscard]] const quota::ClassTable* ClassesOf(
      const quota::Evaluator& evaluator) const override;
  [[nodiscard]] base::Result<quota::Resolved> SubjectOf(
      const quota::Evaluator& evaluator, std::string_view ns, const quota::Uid& uid,
      const quota::ObjectFacts& facts) const override;
  [[nodiscard]] bool HasLater(const quota::Evaluator& evaluator, const quota::Uid& uid,
                              std::string_view resource_version) const override;
  base::Task<base::Result<quota::ClassUsage>> ReadClass(const quota::Evaluator& evaluator,
                                                        std::string name,
                                                        base::TimePoint deadline) override;
  [[nodiscard]] quota::ResourceList AdvanceOf(const quota::Quota& quota) const override;
  [[nodiscard]] bool Draw(const admission::ChargePlan& plan) override;
  base::Task<base::Result<void>> Charge(admission::ChargePlan plan,
                                        base::TimePoint deadline) override;
  void Release(const api::ObjectKey& key, const quota::Uid& uid, std::uint64_t grant) override;
  base::Task<base::Result<void>> Refresh(std::string ns, base::TimePoint deadline) override;

 private:
  // A change that is equal to a write of ours that is under way: our own, unless the answer says
  // otherwise. Two replicas that charge one pod each write the same.
  struct LookAlike {
    quota::Quota before;
    quota::Quota after;
    quota::ResourceList held;  // for others, when it was seen
  };
  // What is remembered of a quota beside its object.
  struct Memory {
    Memory(base::Scheduler& scheduler, const QuotaControllerOptions& options)
        : charges(options.foreign_hold),
          admitted(options.charge_hold),
          advance(options.advance),
          gate(std::make_shared<base::Gate>(scheduler)) {}
    // What we charged for objects that no watch has shown. Errors: the sum does not fit.
    [[nodiscard]] base::Result<quota::ResourceList> Outstanding() const;

    std::string uid;
    quota::ForeignCharges charges;
    quota::Charges admitted;           // by our own admission
    quota::Advance advance;            // for what our own admission is not asked for yet
    std::shared_ptr<base::Gate> gate;  // whoever writes the status is inside
    bool postponed = false;            // a recount waits for the gate
    std::set<std::string> met;         // names that were counted once
    bool met_all = false;              // that are all of status.used
    std::optional<base::TimePoint> last_grant;
    std::optional<quota::QuotaStatus> in_flight;  // a write under way
    std::vector<LookAlike> look_alikes;           // seen meanwhile
    bool shown = false;  // the watch has shown what followed the version that the write replaces
    // The least that writes without an answer may have left, before the next change is seen.
    std::optional<quota::ResourceList> unanswered;
    std::string written_version;                   // resourceVersion of our last write
    base::TimePoint not_before{};                  // no write earlier than this
    std::optional<base::TimePoint> partial_until;  // then the count is whole again
    base::TimePoint paid_until{};                  // each write moves it on by write_interval
  };
  // A recount, or why it has to wait.
  struct Recount {
    // Names of which not all that is stored may have been shown.
    [[nodiscard]] std::vector<std::string> Behind() const;

    quota::Observed observed;
    bool pending = false;  // some source is still being listed and may be done soon
    std::optional<base::TimePoint> partial_until;  // when some source will have caught up
  };
  struct Outcome {
    enum class Kind { kDone, kRevisit, kRetry } kind = Kind::kDone;
    base::Duration after{};                 // kRevisit
    std::string_view result = "unchanged";  // for the observer
  };

  // Each watched resource is resynced once in a round.
  struct ResyncRound {
    std::optional<api::GroupResource> last;  // that was resynced in it
    bool complete = true;
    base::Duration took{};
  };
  // A quota that was read live, and the object that it is.
  struct Live {
    quota::Quota quota;
    json::Value object;
  };
  // A list of one namespace that was read live.
  struct Listed {
    base::TimePoint at;
    std::string version;
  };

  [[nodiscard]] bool Leading() const { return !options_.leading || options_.leading(); }
  base::Task<void> Work();
  // Tells quotas what concerns many of them.
  base::Task<void> WalkQuotas();
  // What is to be told in the next walk.
  Concerns& ForMany();
  void Visit(const quota::Quota& quota, const Concerns& concerns);
  [[nodiscard]] bool NoticeHold(const quota::Quota& quota);
  [[nodiscard]] bool NoticeClasses(const quota::Quota& quota, const Concerns::Classes& changed);
  base::Task<void> ResyncPeriodically();
  base::Task<bool> ResyncNext(ResyncRound& round);
  void EndRound(const ResyncRound& round);
  base::Task<bool> ResyncOne(std::shared_ptr<TrackedResource> tracked);
  base::Task<Outcome> Reconcile(api::ObjectKey key);
  // `advance` is what of `desired` is charged in advance by this.
  base::Task<Outcome> Write(quota::Quota quota, quota::QuotaStatus desired,
                            quota::NextAdvance advance);
  base::Task<base::Result<quota::Quota>> PatchStatus(quota::Quota quota, quota::QuotaStatus desired,
                                                     base::TimePoint deadline);
  base::Task<Outcome> AfterFailedWrite(quota::Quota quota, base::Error error);
  base::Task<base::Result<void>> ChargeInside(admission::ChargePlan plan, base::TimePoint deadline);
  // What it made. An answer that was lost is looked up. Errors: kConflict also if the quota is
  // found to have changed then; else what kept the write from being made, as far as is known.
  base::Task<base::Result<quota::Quota>> WriteStatus(quota::Quota quota, quota::QuotaStatus desired,
                                                     base::TimePoint deadline);
  base::Task<base::Error> AfterFailedCharge(quota::Quota quota, base::Error error,
                                            base::TimePoint deadline);
  // `known` is what the watch had shown when the list was asked for.
  void TakeList(const std::string& ns, std::string version, const json::Array& quotas,
                const std::string& known);
  // From when the write was sent: others, who hold what they see, may have seen it ever since.
  void Hold(Memory& memory, const quota::Quota& quota, const std::vector<admission::Grant>& grants,
            base::TimePoint sent);
  // Creations were granted: a crowd of them is charged in advance.
  void NoticeCrowd(Memory& memory, const admission::ChargePlan& plan);
  [[nodiscard]] quota::NextAdvance AdvanceFor(const quota::Quota& quota, const Memory& memory,
                                              const Recount& recount) const;
  // The server was put back to an earlier state: watches that go on from where they were show
  // nothing of what is stored since.
  void OnPutBack();
  // As it is stored now, which the store then knows. Errors: kNotFound also if it is another one of
  // the same name.
  base::Task<base::Result<Live>> ReadLive(quota::Quota quota, base::TimePoint deadline);
  // The error of a write that came too late.
  static base::Error Changed(const quota::Quota& quota);
  [[nodiscard]] bool IsOurWrite(const Live& live, const quota::Quota& before,
                                const quota::QuotaStatus& desired) const;
  [[nodiscard]] bool IsSeen(const quota::Quota& quota, const admission::Grant& grant,
                            quota::ResourceList& usage) const;
  [[nodiscard]] quota::Quota Guarded(const quota::Quota& quota) const;
  // The write under way is over; `version` is what it made, "" if it failed.
  void EndFlight(const quota::Quota& quota, const std::string& version);
  Memory* FindMemory(const quota::Quota& quota);
  [[nodiscard]] Outcome UntilChargesExpire(const Memory& memory, std::string_view result) const;
  void Settle(const api::ObjectKey& key, const Outcome& outcome);
  [[nodiscard]] Recount Count(const quota::Quota& quota);
  std::vector<Obstacle> AddUsage(const UsageSource& source, const quota::Quota& quota,
                                 quota::Observed& observed) const;
  [[nodiscard]] quota::ResourceList KnownUsageOf(const quota::Evaluator& evaluator,
                                                 const TrackedResource& tracked,
                                                 std::string_view ns, const quota::Uid& uid,
                                                 const quota::Facts& facts) const;
  [[nodiscard]] quota::ResourceList UsageOf(const quota::Quota& quota,
                                            const quota::Evaluator& evaluator,
                                            const quota::LedgerChange& change,
                                            const quota::Facts& facts) const;
  [[nodiscard]] bool MayBeDoneSoon(const UsageSource& source) const;
  void MeetCharges(const quota::Quota& quota, Memory& memory, const Recount& recount);
  [[nodiscard]] base::TimePoint EarliestWrite(const Memory& memory) const;
  Memory& Remember(const quota::Quota& quota);
  void NoticeObject(const quota::Quota& quota, const quota::Evaluator& evaluator,
                    const quota::LedgerChange& change, bool matched, bool match);
  void NoticeClass(const quota::Quota& quota, const quota::Evaluator& evaluator,
                   const TrackedResource& tracked);
  void NoticeConstraints();
  void NoticeExpired(const quota::Quota& quota, Memory& memory, base::TimePoint now);
  void NoticeForeignWrite(const quota::Quota& before, const quota::Quota& after);
  void HoldForeign(const quota::ResourceList& before, const quota::Quota& after,
                   const quota::ResourceList* held_then = nullptr);
  void NoticeForeignDecrease(const quota::Quota& before, const quota::Quota& after);
  // It is not known whether our write, guarded by the version of `quota`, was made.
  void NoticeUnanswered(const quota::Quota& quota, const quota::QuotaStatus& desired);
  // Our write made `written`. A list may have shown what came of it later, and not it.
  void NoticeOvertaken(const quota::Quota& written);
  void ComplainOnce(const std::string& about, const std::string& message);

  TrackingContext context_;
  const quota::QuotaApi& api_;
  ServedResources& served_;
  ControllerObserver& observer_;
  QuotaControllerOptions options_;
  Pulse pulse_;
  QuotaStore store_;
  Tracker tracker_;
  QuotaReporter reporter_;
  QuotaWalk walk_;
  std::unique_ptr<base::Alarm> walk_wanted_;
  std::unique_ptr<metrics::InformerMetrics> quota_metrics_;
  std::unique_ptr<informers::Reflector> quotas_;
  queue::AsyncQueue<api::ObjectKey> queue_;
  std::map<api::ObjectKey, Memory> memories_;
  std::string put_back_from_;  // what the quotas' watch had shown when OnPutBack() was called last
  std::unordered_map<std::string, Listed> refreshed_;        // namespaces, while not Current()
  std::unordered_map<std::string, base::TimePoint> missed_;  // paths of classes not found
  std::unordered_map<std::string, std::string>
      complaints_;  // said once per subject until it changes
};

}  // namespace controllers
