#pragma once

// One tracked resource: its watch, its ledger and its age. If it fails, it keeps what it knows and
// reports the failure. No other resource is affected.
//
// Single-threaded. Stop() must have returned before it is destroyed.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/usage/facts_reader.h"
#include "controllers/usage/ledger_resync.h"
#include "controllers/usage/shared_watch.h"
#include "controllers/usage/shown_versions.h"
#include "pkg/base/log_limit.h"
#include "pkg/quota/ledger.h"

namespace controllers {

class TrackedResource final : public SharedWatch {
 public:
  TrackedResource(TrackingContext context, api::GroupVersionResource resource,
                  const quota::Evaluator& evaluator);

  // As Ledger::SetGroups().
  void SetGroups(std::string_view ns, std::vector<std::string> groups) {
    ledger_.SetGroups(ns, std::move(groups));
  }
  // As FactsReader::Follow().
  void Follow(const quota::Rules& rules) { facts_.Follow(rules, ledger_.size() > 0); }
  void Relist() override;
  // Call if the server has an object of this version and the watch has not shown it. The watch
  // counts as behind until it shows that version, but not longer than accounting::kAwaitsShown.
  // Opens the watch anew, unless that was done a moment ago: the watch may only be slow.
  void Await(const std::string& version);
  // Compares the ledger with a fresh list, and repairs and reports drift; the listener has got the
  // changes. nullopt if the resource relisted meanwhile, or if another resync is running. If there
  // are suspects, it waits `settle` for the watch. Errors: a list failed, and nothing was changed.
  base::Task<base::Result<std::optional<DriftReport>>> Resync(base::Duration settle);

  // For the names that its users limit.
  [[nodiscard]] FactsReader& facts() { return facts_; }
  [[nodiscard]] const FactsReader& facts() const { return facts_; }
  [[nodiscard]] const quota::Ledger& ledger() const { return ledger_; }
  [[nodiscard]] const ShownVersions& shown() const { return shown_; }
  [[nodiscard]] base::TimePoint started() const { return started_; }
  // As SyncState::BehindUntil(). The listener is told when an awaited version is shown.
  [[nodiscard]] base::TimePoint behind_until() const {
    return sync_state().BehindUntil(Now(), state());
  }
  // True if all changes up to this version were shown.
  [[nodiscard]] bool Reaches(std::string_view version) const;
  // True if the object was shown in this version or a later one, or was deleted.
  [[nodiscard]] bool HasShown(std::string_view ns, const quota::Uid& uid,
                              std::string_view version) const;

  void BeginList() override;
  void Upsert(const json::Value& object) override;
  void Remove(const json::Value& object) override;
  bool SweepSome() override;
  void EndList() override;
  void OnState() override;

 private:
  void StartTasks(base::TaskGroup& tasks) override;
  base::Task<void> WatchExpiry();
  base::Task<void> ReadAgain();
  base::Result<quota::ObjectFacts> FactsOf(const json::Value& object);
  void Count(const json::Value& object, const quota::Uid& uid);
  void SayUncounted(const json::Value& object, std::string_view what, const std::string& why);
  void Report(const quota::LedgerChange& change) const;
  void ReportShown(const std::string& ns, const quota::Uid& uid);
  void TellState() const;

  std::unique_ptr<base::Alarm> expiry_;     // woken when the next LaterFacts may have moved closer
  std::unique_ptr<base::Alarm> must_read_;  // woken when objects must be read again
  FactsReader facts_;
  quota::Ledger ledger_;
  ShownVersions shown_;
  LedgerResync resync_;
  base::LogLimit lines_;      // about objects, by namespace
  base::LogLimit own_lines_;  // about the resource as a whole
  base::TimePoint started_{};
  std::optional<base::TimePoint> reopened_;  // the last time that Await() did so
};

}  // namespace controllers
