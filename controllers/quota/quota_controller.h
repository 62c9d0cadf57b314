#pragma once

// Keeps status.hard and status.used of every quota of one quota API correct. Events only enqueue
// keys. The state alone decides what is written (recounter.h).
//
// Single-threaded. Run() must have returned before it is destroyed.

#include <memory>
#include <optional>
#include <string>

#include "controllers/quota/base/controller_options.h"
#include "controllers/quota/observed_quotas.h"
#include "controllers/quota/quota_changes.h"
#include "controllers/quota/recounter.h"
#include "controllers/quota/reservations.h"
#include "controllers/quota/resync.h"
#include "controllers/usage/served_resources.h"
#include "pkg/queue/async_queue.h"

namespace controllers {

class QuotaController final {
 public:
  // All references, and what `context` points to, must outlive the controller.
  QuotaController(TrackingContext context, const quota::QuotaApi& api, ServedResources& served,
                  SharedResources& shared, ControllerObserver& observer,
                  const QuotaControllerOptions& options,
                  queue::Observer& queue_observer = queue::NoObserver());

  // For ClusterQuotas: `listener` is told of changes until Run() returns. Call it before Run().
  void SetClusterListener(ClusterListener* listener) { changes_.SetClusterListener(listener); }
  // Watches and reconciles until cancelled. Then finishes the writes that were sent.
  base::Task<void> Run();

  // True when the quotas are listed, and every resource that they name is synced, failed or absent.
  // Otherwise `why` says what is missing.
  [[nodiscard]] bool Ready(std::string* why) const;
  // Why the quotas cannot be listed or watched now; nullopt: nothing fails.
  [[nodiscard]] const std::optional<base::Error>& trouble() const { return quotas_.trouble(); }
  // True if the server does not serve these quotas.
  [[nodiscard]] bool NotServed() const;

  [[nodiscard]] const QuotaStore& store() const { return quotas_.store(); }
  [[nodiscard]] const Tracker& tracker() const { return tracker_; }
  [[nodiscard]] const Accounts& accounts() const { return quotas_.accounts(); }
  [[nodiscard]] const Reach& reach() const { return changes_.reach(); }
  // Where ClusterQuotas limit each resource; null if the quotas are namespaced.
  [[nodiscard]] const quota::LimitedPlaces* places() const {
    return cluster_ == nullptr ? nullptr : &cluster_->reach.places();
  }
  // True if all quotas are known, and all namespaces that they may reach.
  [[nodiscard]] bool KnowsReach() const {
    return store().synced() && (cluster_ == nullptr || cluster_->reach.synced());
  }
  [[nodiscard]] const ObservedUsage& usage() const { return usage_; }
  [[nodiscard]] const QuotaConditions& conditions() const { return reporter_.conditions(); }
  [[nodiscard]] queue::RunningWork running() const { return queue_.Running(); }
  // Learns of all changes by itself. A caller may tell it of one once more.
  [[nodiscard]] UsageListener& changes() { return changes_; }
  // The interfaces for admission.
  [[nodiscard]] admission::QuotaBook& quota_book() { return reservations_; }
  [[nodiscard]] admission::ObjectBook& object_book() { return usage_; }

  // `change` puts an evaluator of this resource into the quota API, or removes it. It is called
  // once.
  void ChangeEvaluator(const api::GroupResource& resource, const std::function<void()>& change) {
    changes_.ChangeEvaluator(resource, change);
  }
  // The answers of `guarded` have changed.
  void OnGuards() { changes_.RecountAll(); }
  // The set `exempt` has changed.
  void OnExempt() { changes_.ReportAll(); }
  // `leading` became true: all quotas are checked.
  void OnLeading() {
    if (reporter_.enforcement() != nullptr) reporter_.enforcement()->Restart();
    changes_.ReportAll();
  }
  // Sets the timeout of the slowest validating webhook of others. The API server may store an
  // object only after it, so reservations are held for longer.
  void SetSlowestWebhook(base::Duration slowest);

 private:
  base::Task<void> Work();

  TrackingContext context_;
  QuotaControllerOptions options_;
  StallDetector stalls_;
  ControllerObserver& observer_;
  queue::AsyncQueue<api::ObjectKey> queue_;
  QuotaChanges changes_;  // uses the members below, but not before its first call
  ObservedQuotas quotas_;
  Tracker tracker_;
  ObservedUsage usage_;
  QuotaReporter reporter_;
  std::unique_ptr<ClusterQuotas> cluster_;  // null: the quotas are namespaced
  StatusWriter writer_;
  Reservations reservations_;
  Recounter recounter_;
  Resync resync_;
};

}  // namespace controllers
