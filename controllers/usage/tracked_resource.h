#pragma once

// One tracked resource: its watch, its ledger and its age. If it fails, it keeps what it knows and
// reports the failure. No other resource is affected.
//
// Single-threaded. Stop() must have returned before it is destroyed.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/usage/drift_finder.h"
#include "controllers/usage/recent_versions.h"
#include "controllers/usage/shared_watch.h"
#include "controllers/usage/unread_names.h"
#include "pkg/quota/ledger.h"
#include "pkg/quota/limited_names.h"

namespace controllers {

class TrackedResource final : public SharedWatch {
 public:
  TrackedResource(TrackingContext context, api::GroupVersionResource resource,
                  const quota::Evaluator& evaluator);

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
  void Relist() override;
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

  [[nodiscard]] const quota::Ledger& ledger() const { return ledger_; }
  [[nodiscard]] base::TimePoint started() const { return started_; }
  // As SyncState::BehindUntil(). The listener is told when an awaited version is shown.
  [[nodiscard]] base::TimePoint behind_until() const {
    return sync_state().BehindUntil(Now(), state());
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
  void StartTasks(base::TaskGroup& tasks) override;
  [[nodiscard]] informers::ReflectorOptions ListOptions() const;
  base::Task<void> WatchExpiry();
  base::Task<void> ReadUnread();
  [[nodiscard]] bool ByClass(std::string_view name) const;
  base::Result<quota::ObjectFacts> FactsOf(const json::Value& object);
  base::Task<base::Result<void>> ListVersions(Depth depth);
  base::Task<base::Result<void>> ReadSuspects();
  void TakeRead(const json::Value& object);
  bool WasSetBack(base::WallTime wall);
  void Report(const quota::LedgerChange& change) const;
  void TellState() const;
  void ReportShown(const std::string& ns, const quota::Uid& uid);
  void Count(const json::Value& object, const std::string& ns, const quota::Uid& uid);

  quota::LimitedNames limited_;
  UnreadNames unread_;
  quota::Rules rules_;
  bool outdated_ = false;  // held facts were made by other rules
  quota::Ledger ledger_;
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
  base::TimePoint started_{};
  std::optional<base::TimePoint> reopened_;  // the last time that Await() did so
};

}  // namespace controllers
