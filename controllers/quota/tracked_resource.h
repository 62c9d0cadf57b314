#pragma once

// One tracked resource of one quota API: its reflector, its ledger, its state and age. A resource
// in trouble hurts nobody but itself: it keeps what it knows and says so.
//
// Single-threaded. Stop() must have returned before it is destroyed.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "controllers/quota/drift_finder.h"
#include "controllers/quota/recent_versions.h"
#include "informers/reflector.h"
#include "pkg/api/resource.h"
#include "pkg/base/scheduler.h"
#include "pkg/base/task_group.h"
#include "pkg/client/api_client.h"
#include "pkg/client/event_recorder.h"
#include "pkg/metrics/informer_metrics.h"
#include "pkg/quota/evaluator.h"
#include "pkg/quota/ledger.h"

namespace controllers {

class UsageListener {
 public:
  virtual ~UsageListener() = default;
  // Facts of an object changed, by an event or by time.
  virtual void OnUsageChange(const quota::Evaluator& evaluator,
                             const quota::LedgerChange& change) = 0;
  // Became synced, fell into trouble, or healed.
  virtual void OnResourceState(const quota::Evaluator& evaluator) = 0;
  // A class that the evaluator reads came, changed or went.
  virtual void OnClassChange(const quota::Evaluator& evaluator, const std::string& name) = 0;
  // The classes became known, or are no longer.
  virtual void OnClassState(const quota::Evaluator& evaluator) = 0;
  // An event has shown an object, or that it is gone, whether or not its facts changed.
  virtual void OnShown(std::string_view ns, const quota::Uid& uid) = 0;
};

// What a tracked resource needs of the world. All outlive it.
struct TrackingContext {
  base::asio::any_io_executor executor;
  base::Scheduler* scheduler = nullptr;
  client::ApiClient* client = nullptr;
  informers::ReflectorOptions reflector;  // the defaults; resource and fields are set per resource
  std::string name;                       // of the informers, in metrics: the quota API's
  metrics::Registry* registry = nullptr;  // may be absent
  client::EventRecorder* events = nullptr;  // may be absent
};

// The metrics of one watched collection, under this informer name; null without a registry.
std::unique_ptr<metrics::InformerMetrics> NewInformerMetrics(
    const TrackingContext& context, std::string name, const api::GroupVersionResource& resource);

class TrackedResource final : public informers::CollectionSink {
 public:
  TrackedResource(TrackingContext context, api::GroupVersionResource resource,
                  quota::Evaluator evaluator, UsageListener& listener);

  void Start();
  base::Task<void> Stop();
  // As Ledger::SetGroups().
  void SetGroups(std::string_view ns, std::vector<std::string> groups);
  // The server was put back to an earlier state: lists again.
  void Relist();

  // kVersions compares the objects' versions, and reads those in full that differ. kWhole reads all
  // in full: facts of the same version may differ after the wall clock was set.
  enum class Depth : std::uint8_t { kVersions, kWhole };
  // A fresh list against the ledger; repairs and reports drift, whose changes it has taken. nullopt
  // if the resource relisted meanwhile, or another one is under way, which does the same work.
  // Waits `settle` for the watch to catch up if there are suspects. Errors: a list failed; nothing
  // was changed.
  base::Task<base::Result<std::optional<DriftReport>>> Resync(base::Duration settle, Depth depth);

  [[nodiscard]] const api::GroupVersionResource& resource() const { return resource_; }
  [[nodiscard]] const quota::Evaluator& evaluator() const { return evaluator_; }
  [[nodiscard]] const quota::Ledger& ledger() const { return ledger_; }
  [[nodiscard]] const informers::ReflectorState& state() const { return reflector_->state(); }
  // True if the ledger is a complete and current picture: not before the first list, and not in the
  // middle of another one, when it holds some of the old and some of the new, or before one that
  // Relist() asked for.
  [[nodiscard]] bool synced() const { return synced_ && !listing_ && !relists_; }
  [[nodiscard]] base::TimePoint started() const { return started_; }
  // Until then objects may be stored that the ledger has not: TimePoint::max() while in trouble,
  // and a moment ahead while no watch is open without that (its place in history is gone, or the
  // server takes its time); else a moment after it. In the past when all is well.
  [[nodiscard]] base::TimePoint behind_until() const;

  // True if the object is known to have changed since it had this resourceVersion.
  [[nodiscard]] bool HasLater(const quota::Uid& uid, std::string_view version) const;

  // True if an event has shown that the object is gone, not long ago, and since the last list
  // began.
  [[nodiscard]] bool IsGone(const quota::Uid& uid) const;
  // The newest version of an object that was shown since then: of this namespace, or, for a group,
  // of any. The watch is over all, so whoever has seen that far knows as much of each namespace,
  // and labels that change meanwhile leave it right. "": none.
  [[nodiscard]] std::string NewestIn(const quota::Space& space) const;

  void BeginList() override;
  void Upsert(const json::Value& object) override;
  void Remove(const json::Value& object) override;
  bool SweepSome() override;
  void EndList() override;
  void OnState() override;

 private:
  base::Task<void> WatchExpiry();
  base::Task<base::Result<void>> ListVersions(Depth depth);
  base::Task<base::Result<void>> ReadSuspects();
  base::Task<base::Result<void>> Read(informers::ReflectorOptions options);
  void TakeRead(const json::Value& object);
  bool WasSetBack(base::WallTime wall);
  void Report(const quota::LedgerChange& change);
  void Count(const json::Value& object, const std::string& ns, const quota::Uid& uid);
  void NoteVersion(const std::string& ns, std::string_view version);

  TrackingContext context_;
  api::GroupVersionResource resource_;
  quota::Evaluator evaluator_;
  UsageListener& listener_;
  quota::Ledger ledger_;
  base::TaskGroup tasks_;
  std::unique_ptr<metrics::InformerMetrics> metrics_;
  std::unique_ptr<informers::Reflector> reflector_;
  RecentVersions recent_;
  RecentVersions gone_;
  std::map<std::string, std::string, std::less<>> newest_;  // version, by namespace
  std::string newest_of_all_;
  std::unique_ptr<base::Alarm> expiry_;       // rung when the next LaterFacts may have moved closer
  std::optional<DriftFinder> drift_;          // set while a resync is under way
  std::optional<base::Duration> wall_ahead_;  // of the monotonic clock, when looked at last
  bool synced_ = false;                       // a complete list has been seen
  bool listing_ = false;                      // a list is coming in
  bool relists_ = false;                      // it is to come: what is known is not believed
  base::TimePoint started_{};
  base::TimePoint behind_until_{};
};

}  // namespace controllers
