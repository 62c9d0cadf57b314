#pragma once

// One tracked resource: its reflector, its ledger, its state and age. If it fails, it keeps what it
// knows and reports the failure. No other resource is affected. Several quota APIs may use it
// (shared_resources.h).
//
// Single-threaded. Stop() must have returned before it is destroyed.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/usage/drift_finder.h"
#include "controllers/usage/recent_versions.h"
#include "controllers/usage/sync_state.h"
#include "controllers/usage/unread_names.h"
#include "controllers/usage/usage_listener.h"
#include "informers/reflector.h"
#include "pkg/api/resource.h"
#include "pkg/base/scheduler.h"
#include "pkg/base/task_group.h"
#include "pkg/client/api_client.h"
#include "pkg/client/event_recorder.h"
#include "pkg/metrics/informer_metrics.h"
#include "pkg/quota/evaluator.h"
#include "pkg/quota/ledger.h"
#include "pkg/quota/limited_names.h"

namespace controllers {

// What a tracked resource needs from its environment. All of it must outlive the resource.
struct TrackingContext {
  base::asio::any_io_executor executor;
  base::Scheduler* scheduler = nullptr;
  client::ApiClient* client = nullptr;
  // the defaults; resource and fields are set for each resource
  informers::ReflectorOptions reflector;
  base::Gate* lists = nullptr;              // of tracked resources; may be absent
  std::string name;                         // the quota API's name, for the informers in metrics
  metrics::Registry* registry = nullptr;    // may be absent
  client::EventRecorder* events = nullptr;  // may be absent
};

// The metrics of one watched collection, under this informer name; null without a registry.
std::unique_ptr<metrics::InformerMetrics> NewInformerMetrics(
    const TrackingContext& context, std::string name, const api::GroupVersionResource& resource);

// The reflector of one collection. `metrics` (may be null) and the sink must outlive it.
std::unique_ptr<informers::Reflector> NewReflector(const TrackingContext& context,
                                                   api::GroupVersionResource resource,
                                                   std::vector<std::string> fields,
                                                   metrics::InformerMetrics* metrics,
                                                   informers::CollectionSink& sink);

class TrackedResource final : public informers::CollectionSink {
 public:
  // Returns the classes that the evaluator reads; null if they are not known.
  using Classes = std::function<const quota::ClassTable*()>;

  TrackedResource(TrackingContext context, api::GroupVersionResource resource,
                  quota::Evaluator evaluator);

  // `user` is told of changes from now on, but not of what was listed before. Users may know
  // classes at different times.
  void AddUser(UsageListener& user, Classes classes);
  void RemoveUser(UsageListener& user);
  [[nodiscard]] bool used() const { return !users_.empty(); }
  // True for the user that was added before all others that there are now. It resyncs the resource.
  [[nodiscard]] bool IsFirst(const UsageListener& user) const { return users_.IsFirst(user); }

  void Start();  // no effect after the first call
  base::Task<void> Stop();
  // As Ledger::SetGroups().
  void SetGroups(std::string_view ns, std::vector<std::string> groups) {
    ledger_.SetGroups(ns, std::move(groups));
  }
  // One more user limits this name from now on, or one less. Facts have all limited names, and few
  // others. If held facts may lack the name, it is unread until all objects were read again.
  void Limit(std::string_view name);
  void Unlimit(std::string_view name);
  // The classes changed, or became known or unknown.
  void OnClasses();
  // The server counts by these rules from now on. If held facts may be others, all objects are read
  // again.
  void Follow(const quota::Rules& rules);
  // Since when usage under this limited name is unknown; nullopt: it is known.
  [[nodiscard]] std::optional<base::TimePoint> UnreadSince(std::string_view name) const {
    return unread_.Since(name);
  }
  // Lists again, because the server was restored to an earlier state.
  void Relist();
  // Call if the server has an object of this version and the watch has not shown it. The watch
  // counts as behind until it shows that version, but not longer than accounting::kAwaitsShown.
  // Opens the watch anew, unless that was done a moment ago: the watch may only be slow.
  void Await(const std::string& version);

  // kVersions compares versions, and reads objects in full if they differ. kWhole reads all objects
  // in full, and makes the facts of the same version anew: after the wall clock was set, or for
  // names that facts lack.
  enum class Depth : std::uint8_t { kVersions, kWhole };
  // Compares the ledger with a fresh list. Repairs and reports drift; the listener has got the
  // changes. nullopt if the resource relisted meanwhile, or if another resync is running. If there
  // are suspects, it waits `settle` for the watch. Errors: a list failed, and nothing was changed.
  base::Task<base::Result<std::optional<DriftReport>>> Resync(base::Duration settle, Depth depth);

  [[nodiscard]] const api::GroupVersionResource& resource() const { return resource_; }
  [[nodiscard]] const quota::Evaluator& evaluator() const { return evaluator_; }
  [[nodiscard]] const quota::Ledger& ledger() const { return ledger_; }
  [[nodiscard]] const informers::ReflectorState& state() const { return reflector_->state(); }
  // True if the ledger is complete and current.
  [[nodiscard]] bool synced() const { return sync_state_.synced(); }
  [[nodiscard]] base::TimePoint started() const { return started_; }
  // As SyncState::BehindUntil(). The listener is told when an awaited version is shown.
  [[nodiscard]] base::TimePoint behind_until() const {
    return sync_state_.BehindUntil(context_.scheduler->Now(), state());
  }

  // True if the object is known to have changed since it had this resourceVersion.
  [[nodiscard]] bool HasLater(const quota::Uid& uid, std::string_view version) const;

  // True if the watch may have shown another object of this name, of any age. It may be deleted
  // meanwhile, so this must be checked.
  [[nodiscard]] bool MayHoldOther(std::string_view ns, std::string_view name,
                                  const quota::Uid& uid) const {
    return ledger_.MayHoldOther(ns, quota::NameMarkOf(name), uid);
  }
  // True if an event has shown recently that the object was deleted, after the last list began.
  [[nodiscard]] bool IsGone(const quota::Uid& uid) const;
  // The newest version of an object that was shown since then; "" if none. The watch covers all
  // namespaces, so each namespace is shown as far.
  [[nodiscard]] const std::string& newest() const { return newest_; }
  // True if all changes up to this version were shown.
  [[nodiscard]] bool Reaches(std::string_view version) const;
  // True if the object was shown in this version or a later one, or was deleted.
  [[nodiscard]] bool HasShown(std::string_view ns, const quota::Uid& uid,
                              std::string_view version) const;
  // When the last complete list began. The ledger has everything that was stored before.
  [[nodiscard]] base::TimePoint listed_since() const { return listed_since_; }

  void BeginList() override;
  void Upsert(const json::Value& object) override;
  void Remove(const json::Value& object) override;
  bool SweepSome() override;
  void EndList() override;
  void OnState() override;

 private:
  base::Task<void> WatchExpiry();
  base::Task<void> ReadUnread();
  [[nodiscard]] bool MayCount(std::string_view name) const;
  [[nodiscard]] bool ByClass(std::string_view name) const;
  [[nodiscard]] const quota::ClassTable* KnownClasses() const;
  base::Result<quota::ObjectFacts> FactsOf(const json::Value& object);
  base::Task<base::Result<void>> ListVersions(Depth depth);
  base::Task<base::Result<void>> ReadSuspects();
  void TakeRead(const json::Value& object);
  bool WasSetBack(base::WallTime wall);
  void Report(const quota::LedgerChange& change);
  void ReportShown(const std::string& ns, const quota::Uid& uid);
  void Count(const json::Value& object, const std::string& ns, const quota::Uid& uid);

  TrackingContext context_;
  api::GroupVersionResource resource_;
  quota::Evaluator evaluator_;
  UsageListeners users_;
  std::vector<std::pair<const UsageListener*, Classes>> classes_;  // as each user knows them
  bool running_ = false;
  quota::LimitedNames limited_;
  UnreadNames unread_;
  quota::Rules rules_;
  bool outdated_ = false;  // held facts were made by other rules
  quota::Ledger ledger_;
  base::TaskGroup tasks_;
  std::unique_ptr<metrics::InformerMetrics> metrics_;
  std::unique_ptr<informers::Reflector> reflector_;
  RecentVersions recent_;
  RecentVersions gone_;
  std::string newest_;
  base::TimePoint list_began_{};          // of the last list, complete or not
  base::TimePoint listed_since_{};        // of the last complete list
  std::unique_ptr<base::Alarm> expiry_;   // woken when the next LaterFacts may have moved closer
  std::unique_ptr<base::Alarm> reading_;  // woken when there is something to read again
  std::optional<DriftFinder> drift_;      // set during a resync
  // how far it was ahead of the monotonic clock at the last check
  std::optional<base::Duration> wall_ahead_;
  SyncState sync_state_;
  base::TimePoint started_{};
  std::optional<base::TimePoint> reopened_;  // the last time that Await() did so
};

}  // namespace controllers
