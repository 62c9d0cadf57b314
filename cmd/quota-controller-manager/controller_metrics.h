#pragma once

// The metrics of one quota API's controller. Single-threaded; the registry must outlive it.

#include <array>
#include <map>
#include <string>

#include "controllers/quota/quota_controller.h"
#include "pkg/metrics/registry.h"

namespace manager {

class ControllerMetrics final : public controllers::ControllerObserver {
 public:
  ControllerMetrics(metrics::Registry& registry, std::string quota_api);

  void OnReconcile(std::string_view result, base::Duration took) override;
  void OnDrift(const api::GroupResource& resource, const controllers::DriftReport& report) override;
  void OnResync(base::Duration took, bool complete) override;
  void OnExternalChargesExpired(std::size_t charges) override;
  void OnBurst(const quota::Quota& quota, const quota::ResourceList& usage) override;
  // Updates the metrics that each scrape reads from the controller: quotas, and the size, state and
  // age of every watched resource.
  void Refresh(const controllers::QuotaController& controller, base::TimePoint now);
  void ShowReservations(const controllers::Accounts::Tally& tally, base::TimePoint now);
  // Exports the resources that the most quotas were told of, and all others together, without a
  // name: tenants choose the names.
  void ShowStale(const controllers::QuotaConditions::Standings& standings);
  // Call it when the controller is destroyed.
  void Clear();

 private:
  struct Tracked {
    metrics::Gauge objects;
    metrics::Gauge distinct_facts;
    metrics::Gauge synced;
    metrics::Gauge age;
  };
  [[nodiscard]] metrics::Labels With(const metrics::Labels& more) const;
  Tracked& ForResource(const std::string& resource);
  void Forget(const Tracked& tracked);
  void CountDrift(const std::string& resource, std::string_view kind, std::size_t objects);

  metrics::Registry& registry_;
  std::string quota_api_;
  std::map<std::string, metrics::Counter, std::less<>> reconciles_;
  metrics::Histogram reconcile_seconds_;
  metrics::Counter status_writes_;
  metrics::Counter external_charges_expired_;
  metrics::Counter bursts_;
  metrics::Counter resyncs_;
  metrics::Counter failed_resyncs_;
  metrics::Histogram resync_seconds_;
  metrics::Gauge quotas_;
  metrics::Gauge broken_quotas_;
  metrics::Gauge reservations_;
  metrics::Gauge later_lists_;
  metrics::Gauge oldest_reservation_;
  // For the quotas with the most reservations, by namespace, quota and resource.
  std::map<std::array<std::string, 3>, metrics::Gauge> reserved_;
  std::map<std::string, Tracked> tracked_;
  std::map<std::pair<std::string, std::string>, metrics::Gauge> stale_;  // by resource and reason
  std::map<std::string, metrics::Gauge> drift_usage_;  // of the last resync, by "resource name"
};

}  // namespace manager
