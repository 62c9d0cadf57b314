#pragma once

// The quota controller and admission's book by reservations (pkg/accounting): what is to replace
// the accounting of controllers/quota, tried here on the same schedules first. Everything else is
// the real one: stores, trackers, ledgers, the admitter.
//
// Single-threaded. Run() must have returned before it is destroyed.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

#include "controllers/quota/pulse.h"
#include "controllers/quota/quota_conditions.h"
#include "controllers/quota/quota_store.h"
#include "controllers/quota/served_resources.h"
#include "controllers/quota/tracked_resource.h"
#include "controllers/quota/tracker.h"
#include "pkg/accounting/first_seen.h"
#include "pkg/accounting/reserve.h"
#include "pkg/accounting/settle.h"
#include "pkg/accounting/strangers.h"
#include "pkg/accounting/timing.h"
#include "pkg/admission/quota_book.h"
#include "pkg/base/gate.h"
#include "pkg/base/task_group.h"
#include "pkg/queue/async_queue.h"

namespace simulation {

struct ReservingOptions {
  std::string by;  // of all processes, of this one only
  std::chrono::milliseconds write_timeout{10'000};
  base::Duration hold = accounting::HoldFor({});
  bool asks = true;    // the server, before an entry ends unseen
  bool floors = true;  // and waits where it is behind
  bool holds_strangers = true;
  bool patient = true;  // entries wait for their objects
  quota::AdvanceOptions advance;
  std::function<bool()> leading;
  std::function<void(const quota::Quota&, const quota::ResourceList&)> on_advance;
  std::uint64_t seed = 0;
};

class ReservingController final : public controllers::QuotaListener,
                                  public controllers::UsageListener,
                                  public admission::QuotaBook {
 public:
  ReservingController(controllers::TrackingContext context, const quota::QuotaApi& api,
                      controllers::ServedResources& served, ReservingOptions options);

  base::Task<void> Run();
  void OnLeading();
  // How long the slowest webhook of others may take, from now on.
  void SetSlowestWebhook(base::Duration slowest);
  [[nodiscard]] std::size_t reservations() const;
  // A PATCH that leaves now takes something back, which anybody may.
  [[nodiscard]] bool withdrawing() const { return withdrawing_ > 0; }

  void OnQuota(const quota::Quota* before, const quota::Quota* after) override;
  void OnQuotasSynced() override {}
  void OnUsageChange(const quota::Evaluator& evaluator, const quota::LedgerChange& change) override;
  void OnResourceState(const quota::Evaluator& evaluator) override;
  void OnClassChange(const quota::Evaluator& evaluator, const std::string& name) override;
  void OnClassState(const quota::Evaluator& evaluator) override;
  void OnListing(const quota::Evaluator& evaluator) override;
  void OnShown(const quota::Evaluator& evaluator, const json::Value& object, bool gone) override;

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
  class QuotaView;
  // An entry of ours that a call was answered by.
  struct Own {
    std::uint64_t n = 0;
    std::uint64_t grant = 0;
    std::string from;
    quota::ResourceList stored;
    quota::Charge covers;
    base::TimePoint at;
    std::size_t relying = 1;  // calls
  };
  // An unassigned entry of ours, and what was granted from it.
  struct Burst {
    std::uint64_t n = 0;
    std::string of;
    quota::ResourceList left;
    base::TimePoint at;
    bool closed = false;  // nothing more is granted
    std::map<quota::Uid, Own> drawn;
  };
  struct Withdrawal {
    std::uint64_t n = 0;
    std::uint64_t grant = 0;
    quota::Uid uid;
    quota::ResourceList stored;
  };
  // by, n, object; of an entry without objects: none.
  using Ended = std::tuple<std::string, std::uint64_t, quota::Uid>;
  // What the server is to be asked about.
  struct Question {
    std::vector<Ended> ends;
    bool strangers = false;           // whether their objects are yet to be shown
    std::vector<std::string> floors;  // resources whose floor we have not reached for long
    [[nodiscard]] bool empty() const { return ends.empty() && !strangers && floors.empty(); }
  };
  // What it says, by resource.
  struct Listed {
    std::string version;
    std::map<quota::Uid, std::string> objects;
  };
  using Answers = std::map<std::string, Listed, std::less<>>;
  struct Memory {
    explicit Memory(base::Scheduler& scheduler) : gate(std::make_shared<base::Gate>(scheduler)) {}
    std::string uid;
    std::shared_ptr<base::Gate> gate;
    bool postponed = false;
    std::optional<accounting::ReservationList> list;  // as the store has the quota
    accounting::FirstSeen first_seen;
    accounting::Strangers strangers;
    bool met = false;
    std::map<quota::Uid, std::vector<Own>> own;  // oldest first
    std::vector<Withdrawal> withdrawals;
    quota::Advance crowd;
    std::optional<Burst> burst;
    quota::ResourceList appeared;            // without an entry, while something is unassigned
    std::map<Ended, base::TimePoint> asked;  // the server has it still: when that was said
    std::set<Ended> ended;                   // the server says that it is not there
    base::TimePoint strangers_asked{};
    std::optional<base::TimePoint> behind_since;
    std::map<std::string, std::string> void_floors;  // that the server has not come to
    std::optional<base::TimePoint> over_since;
    base::TimePoint not_before{};
  };
  struct Recount {
    quota::Observed observed;
    bool pending = false;
    base::TimePoint behind_until = base::TimePoint::min();  // a watch is known to be
  };
  struct Outcome {
    enum class Kind { kDone, kRevisit, kRetry } kind = Kind::kDone;
    base::Duration after{};
  };
  // What was shown of one resource.
  struct Shown {
    std::unordered_map<quota::Uid, std::string, quota::UidHash> versions;
    std::unordered_map<quota::Uid, std::string, quota::UidHash> gone;
    std::map<std::string, std::string, std::less<>> newest;  // by namespace
  };

  static base::Error Changed();
  base::Task<void> Work();
  base::Task<Outcome> Reconcile(api::ObjectKey key);
  [[nodiscard]] Outcome Follow(const Memory& memory, const Recount& recount) const;
  Outcome Until(const Memory& memory, const Recount& recount) const;
  [[nodiscard]] Recount Count(const quota::Quota& quota);
  void Meet(const quota::Quota& quota, Memory& memory, const Recount& recount);
  [[nodiscard]] Question DueToAsk(const quota::Quota& quota, Memory& memory) const;
  base::Task<bool> AskServer(quota::Quota quota, Question question);
  base::Task<base::Result<Answers>> ListAll(quota::Quota quota, std::set<std::string> resources);
  void TakeAnswers(const quota::Quota& quota, const Question& question, const Answers& answers,
                   base::TimePoint asked);
  [[nodiscard]] static bool IsComplete(const QuotaView& view, const std::string& resource,
                                       const Listed& listed);
  void DropEnded(const Memory& memory, accounting::ReservationList& list) const;
  std::vector<Withdrawal> TakeBack(Memory& memory, accounting::Standing& standing);
  void NotTakenBack(const quota::Quota& quota, std::vector<Withdrawal> withdrawals);
  base::Task<Outcome> WriteTakenBack(quota::Quota quota);
  base::Task<base::Result<quota::Quota>> Write(quota::Quota quota, accounting::Standing standing,
                                               std::optional<std::uint64_t> mark,
                                               base::TimePoint deadline);
  base::Task<base::Result<quota::Quota>> ReadLive(quota::Quota quota, base::TimePoint deadline);
  base::Task<base::Result<void>> ChargeInside(admission::ChargePlan plan, base::TimePoint deadline);
  void AddEntries(const admission::ChargePlan& plan, accounting::Standing& standing,
                  std::vector<std::pair<quota::Uid, Own>>& own);
  [[nodiscard]] Own OwnOf(const admission::Grant& grant) const;
  void AssignBurst(const Memory& memory, accounting::Standing& standing,
                   std::vector<std::pair<quota::Uid, Own>>& own);
  std::optional<Burst> NextBurst(const admission::ChargePlan& plan, Memory& memory,
                                 accounting::Standing& standing);
  [[nodiscard]] bool MustTakeBack(const Memory& memory) const;
  [[nodiscard]] base::Duration HoldOf(const accounting::Reservation& entry) const;
  [[nodiscard]] static bool IsPlausible(const Memory& memory, const quota::ResourceList& used,
                                        const quota::ResourceList& desired);
  [[nodiscard]] const Own* FindOwn(const quota::Quota& quota, const quota::Uid& uid,
                                   std::string_view version) const;
  void OnPutBack();
  void TakeList(const std::string& ns, std::string version, const json::Array& quotas,
                const std::string& known);
  [[nodiscard]] accounting::ReservationList ListOf(const quota::Quota& quota) const;
  [[nodiscard]] std::vector<api::ObjectKey> All() const;
  // An older replica's charge may be stored as late as one of ours.
  [[nodiscard]] base::Duration StrangersHold() const {
    return std::max<base::Duration>(options_.hold, accounting::kStrangersHold);
  }
  Memory& Remember(const quota::Quota& quota);
  Memory* FindMemory(const quota::Quota& quota);
  [[nodiscard]] const Memory* FindMemory(const quota::Quota& quota) const;

  std::vector<controllers::Obstacle> AddUsage(const controllers::UsageSource& source,
                                              const quota::Quota& quota,
                                              quota::Observed& observed) const;
  [[nodiscard]] quota::ResourceList KnownUsageOf(const quota::Evaluator& evaluator,
                                                 const controllers::TrackedResource& tracked,
                                                 std::string_view ns, const quota::Uid& uid,
                                                 const quota::Facts& facts) const;

  controllers::TrackingContext context_;
  const quota::QuotaApi& api_;
  controllers::ServedResources& served_;
  ReservingOptions options_;
  controllers::Pulse pulse_;
  controllers::QuotaStore store_;
  std::map<std::string, Shown, std::less<>> shown_;  // by resource
  controllers::Tracker tracker_;
  std::unique_ptr<informers::Reflector> quotas_;
  queue::AsyncQueue<api::ObjectKey> queue_;
  std::unordered_map<api::ObjectKey, Memory> memories_;
  mutable std::map<std::string, quota::Quota> decisive_;  // by uid
  std::unordered_map<std::string, base::TimePoint> missed_;
  struct Refreshed {
    base::TimePoint at;
    std::string version;
  };
  std::unordered_map<std::string, Refreshed> refreshed_;  // by namespace
  std::string put_back_from_;
  std::chrono::seconds webhook_{0};  // of others, the slowest
  std::uint64_t n_ = 0;
  int withdrawing_ = 0;
};

}  // namespace simulation
